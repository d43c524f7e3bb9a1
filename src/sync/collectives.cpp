#include "sync/collectives.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "sync/flush.hpp"

namespace oriel::sync {
namespace {

constexpr std::size_t kCacheLine = 64;

// An area: [ControlWords][MailWords][box of round 0][box of round 1]…
constexpr std::size_t kMailOffset = sizeof(ControlWords);
constexpr std::size_t kBoxesOffset =
    (kMailOffset + sizeof(MailWords) + kCacheLine - 1) / kCacheLine * kCacheLine;
static_assert(kMailOffset % alignof(MailWords) == 0);

constexpr std::size_t full_offset(std::size_t round) {
  return kMailOffset + offsetof(MailWords, full) + round * sizeof(std::uint64_t);
}
constexpr std::size_t emptied_offset(std::size_t round) {
  return kMailOffset + offsetof(MailWords, emptied) + round * sizeof(std::uint64_t);
}
/// Where piece `number` of a box lies.
constexpr std::size_t piece_offset(std::size_t round, std::uint64_t number) {
  return kBoxesOffset + (round * Collectives::kBoxPieces + number % Collectives::kBoxPieces) *
                            Collectives::kPieceBytes;
}

}  // namespace

/// Bytes that follow one another in a buffer, around its end if need be, to be handed out piece by
/// piece.
class Collectives::Run {
 public:
  Run() = default;
  Run(std::span<std::byte> buffer, std::size_t start, std::size_t bytes) noexcept
      : buffer_(buffer), start_(start), left_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return left_ == 0; }
  [[nodiscard]] std::span<std::byte> next() noexcept {
    const std::size_t bytes = std::min({kPieceBytes, left_, buffer_.size() - start_});
    const std::span<std::byte> piece = buffer_.subspan(start_, bytes);
    start_ = (start_ + bytes) % buffer_.size();
    left_ -= bytes;
    return piece;
  }

 private:
  std::span<std::byte> buffer_;
  std::size_t start_ = 0;
  std::size_t left_ = 0;
};

std::size_t Collectives::area_bytes(int ranks) {
  return piece_offset(round_distances(ranks).size(), 0);
}

Collectives::Collectives(std::span<const int> members, int rank, std::vector<Round> rounds,
                         std::byte* area, transport::Progress& progress,
                         transport::PeerHealth& health)
    : rank_(rank),
      size_(static_cast<int>(members.size())),
      area_(area),
      mail_(*::new (area + kMailOffset) MailWords{}),
      progress_(progress),
      barrier_(members, rank, std::move(rounds), *::new (area) ControlWords{}, progress, health),
      traffic_(barrier_.rounds().size()) {}

/// In round k each rank has the blocks of the 2^k ranks up to itself, and gets those of the 2^k
/// before them; in the last round what is still missing.
void Collectives::allgather(std::string_view operation, std::span<const std::byte> mine,
                            std::span<std::byte> all) {
  const std::size_t bytes = mine.size();
  if (bytes == 0) return;
  const auto size = static_cast<std::size_t>(size_);
  const auto rank = static_cast<std::size_t>(rank_);
  std::memmove(all.data() + rank * bytes, mine.data(), bytes);
  const auto blocks_up_to = [&](std::size_t last, std::size_t count) {
    return Run(all, (last + size + 1 - count) % size * bytes, count * bytes);
  };
  barrier_.step(operation, [&] {
    for (std::size_t round = 0; round < traffic_.size(); ++round) {
      const std::size_t distance = std::size_t{1} << round;
      const std::size_t count = std::min(distance, size - distance);
      exchange(operation, round, blocks_up_to(rank, count),
               blocks_up_to((rank + size - distance) % size, count));
    }
    settle(operation);
  });
}

/// Counted from the root, rank v gets the bytes from v - 2^k, its highest bit, and passes them on
/// to every v + 2^j with j > k.
void Collectives::broadcast(std::string_view operation, std::span<std::byte> bytes, int root) {
  if (bytes.empty()) return;
  const auto size = static_cast<std::size_t>(size_);
  const auto distance = static_cast<std::size_t>((rank_ - root + size_) % size_);
  const Run everything(bytes, 0, bytes.size());
  barrier_.step(operation, [&] {
    auto round = static_cast<std::size_t>(std::bit_width(distance));
    if (distance != 0) exchange(operation, round - 1, Run(), everything);
    for (; round < traffic_.size(); ++round) {
      if (distance + (std::size_t{1} << round) < size)
        exchange(operation, round, everything, Run());
    }
    settle(operation);
  });
}

bool Collectives::has_room(std::size_t round) const noexcept {
  return traffic_[round].sent < load(mail_.emptied[round]) + kBoxPieces;
}

bool Collectives::has_mail(std::size_t round) const noexcept {
  return load(mail_.full[round]) > traffic_[round].taken;
}

bool Collectives::all_taken(std::size_t round) const noexcept {
  return load(mail_.emptied[round]) >= traffic_[round].sent;
}

void Collectives::exchange(std::string_view operation, std::size_t round, Run outgoing,
                           Run incoming) {
  auto watch_ahead = barrier_.watch(operation, *barrier_.rounds()[round].ahead.endpoint);
  auto watch_behind = barrier_.watch(operation, *barrier_.rounds()[round].behind.endpoint);
  const auto may_send = [&]() noexcept { return !outgoing.empty() && has_room(round); };
  const auto may_take = [&]() noexcept { return !incoming.empty() && has_mail(round); };
  while (!outgoing.empty() || !incoming.empty()) {
    progress_.wait([&]() noexcept { return may_send() || may_take(); },
                   [&] {
                     if (!outgoing.empty()) watch_ahead();
                     if (!incoming.empty()) watch_behind();
                   });
    if (may_send()) send(round, outgoing.next());
    if (may_take()) take(round, incoming.next());
  }
}

void Collectives::send(std::size_t round, std::span<const std::byte> piece) {
  const Partner& to = barrier_.rounds()[round].ahead;
  const auto place = to.words.plus(piece_offset(round, traffic_[round].sent));
  std::size_t put = 0;
  post(progress_, [&]() noexcept {
    put +=
        to.endpoint->put(piece.data() + put, piece.size() - put, place.plus(put), barrier_.done());
    return put == piece.size() ? transport::PostResult::posted : transport::PostResult::no_credit;
  });
  const std::uint64_t sent = ++traffic_[round].sent;
  post(progress_, [&] {
    return to.endpoint->signal(sent, to.words.plus(full_offset(round)), barrier_.done());
  });
  ++pieces_;
}

void Collectives::take(std::size_t round, std::span<std::byte> piece) {
  const std::uint64_t number = traffic_[round].taken++;
  std::memcpy(piece.data(), area_ + piece_offset(round, number), piece.size());
  const Partner& from = barrier_.rounds()[round].behind;
  post(progress_, [&] {
    return from.endpoint->signal(number + 1, from.words.plus(emptied_offset(round)),
                                 barrier_.done());
  });
}

/// Waits until all that this rank has sent was taken.
void Collectives::settle(std::string_view operation) {
  for (std::size_t round = 0; round < traffic_.size(); ++round) {
    progress_.wait([&]() noexcept { return all_taken(round); },
                   barrier_.watch(operation, *barrier_.rounds()[round].ahead.endpoint));
  }
}

}  // namespace oriel::sync
