// Atomics of all ranks on one place at one time.

#include <fmt/format.h>

#include <algorithm>

#include "conformance/litmus.hpp"

namespace oriel::conformance {
namespace {

/// Neighbours in one part, all worked on at once.
struct Neighbours {
  std::int64_t counter;  ///< by fetch_add and compare_and_swap
  std::int64_t sum64;
  std::int32_t sum32;
  std::int32_t twice32;
  double real;
  std::int16_t sum16;
  std::int16_t untouched16;
  std::int32_t untouched32;
};

/// The neighbours on rank 0, as untyped operations see them.
class Part {
 public:
  explicit Part(const Stand& stand) : own_(1), window_(make(stand)) {
    if (stand.kind == WindowKind::dynamic) {
      base_ = window_.attach(std::as_writable_bytes(std::span(own_)));
    }
    base_ = stand.kind == WindowKind::dynamic ? stand.job.gather(base_)[0] : 0;
    mine_ = stand.kind == WindowKind::dynamic || stand.kind == WindowKind::created
                ? own_.data()
                : reinterpret_cast<Neighbours*>(window_.local().data());
    window_.fence();
  }

  template <class T>
  void add(std::size_t offset, T value) {
    const Layout one = Layout::contiguous(1);
    window_.accumulate({element_type<T>(), OpCode::sum, &value, one, nullptr, one, one},
                       at("accumulate", offset));
  }
  std::int64_t fetch_add(std::int64_t value) {
    std::int64_t old = 0;
    window_.accumulate_now(element_type<std::int64_t>(), OpCode::sum, &value, &old, 1,
                           at("fetch_and_op", 0));
    return old;
  }
  /// Adds one by compare-and-swaps.
  std::int64_t swap_add() {
    std::int64_t expected = guess_;
    while (true) {
      const std::int64_t wanted = expected + 1;
      std::int64_t old = 0;
      window_.compare_and_swap_now({element_type<std::int64_t>(), &expected, &wanted, &old},
                                   at("compare_and_swap", 0));
      guess_ = wanted;
      if (old == expected) return old;
      expected = old;
    }
  }
  void fence() { window_.fence(); }
  [[nodiscard]] const Neighbours& mine() const { return *mine_; }

 private:
  WindowBytes make(const Stand& stand) {
    const Team& team = stand.world;
    switch (stand.kind) {
      case WindowKind::allocated:
        return WindowBytes::allocate(team, sizeof(Neighbours));
      case WindowKind::shared:
        return WindowBytes::allocate_shared(team, sizeof(Neighbours));
      case WindowKind::created:
        return WindowBytes::create(team, std::as_writable_bytes(std::span(own_)));
      case WindowKind::dynamic:
        break;
    }
    return WindowBytes::dynamic(team);
  }
  [[nodiscard]] TargetBytes at(std::string_view operation, std::size_t offset) const {
    return {operation, Rank(0), base_ + offset};
  }

  std::vector<Neighbours> own_;
  WindowBytes window_;
  std::size_t base_ = 0;
  std::int64_t guess_ = 0;
  const Neighbours* mine_ = nullptr;
};

/// Of all ranks together, on one word, however long they take: in a dynamic window, where each
/// waits for a look at the target's list of regions, 50 times as long.
std::int64_t least_additions(const Stand& stand) {
  if (!stand.full) return 20'000;
  if (stand.kind == WindowKind::dynamic) return 20'000;
  return stand.kind == WindowKind::allocated ? 1'000'000 : 100'000;
}

/// All old values of a counter that everybody raised by one.
std::string check_tickets(const Stand& stand, const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> tickets = gather_words(stand, mine);
  std::ranges::sort(tickets);
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    if (tickets[i] == static_cast<std::int64_t>(i)) continue;
    return fmt::format("of {} additions, number {} found {}: one was lost or happened twice",
                       tickets.size(), i, tickets[i]);
  }
  return {};
}

}  // namespace

std::string atomics_on_one_word(const Stand& stand) {
  Part part(stand);
  // Most of the additions are in flight together; the others of a round wait for an answer.
  const std::int64_t together = stand.full ? 1'000 : 10;
  const std::int64_t least = least_additions(stand) / (together * stand.ranks()) + 1;
  Rounds rounds(stand, least, 1'000'000 / stand.ranks());
  std::vector<std::int64_t> tickets;
  while (rounds.next()) {
    tickets.push_back(part.fetch_add(1));
    for (std::int64_t i = 0; i < together; ++i) {
      part.add<std::int64_t>(offsetof(Neighbours, sum64), 3);
    }
    part.add<std::int32_t>(offsetof(Neighbours, sum32), 1);
    tickets.push_back(part.swap_add());
    part.add<std::int32_t>(offsetof(Neighbours, twice32), 2);
    part.add<double>(offsetof(Neighbours, real), 1);
    part.add<std::int16_t>(offsetof(Neighbours, sum16), 1);
  }
  part.fence();
  const std::int64_t n = stand.job.sum(rounds.number());
  std::string wrong = check_tickets(stand, tickets);
  if (stand.rank() == 0 && wrong.empty()) {
    const Neighbours& found = part.mine();
    const bool right = found.counter == 2 * n && found.sum64 == 3 * n * together &&
                       found.sum32 == n && found.twice32 == 2 * n &&
                       found.real == static_cast<double>(n) &&
                       found.sum16 == static_cast<std::int16_t>(n) && found.untouched16 == 0 &&
                       found.untouched32 == 0;
    if (!right) {
      wrong =
          fmt::format("{} rounds of all ranks: counter {}, sums {} {} {} {} {}, neighbours {} {}",
                      n, found.counter, found.sum64, found.sum32, found.twice32, found.real,
                      found.sum16, found.untouched16, found.untouched32);
    }
  }
  part.fence();
  return wrong;
}

/// Everybody swaps a zero for a number of its own: one wins, and all others find its number.
std::string election(const Stand& stand) {
  constexpr std::int64_t kMost = 100'000;
  Words words(stand, kMost);
  Window<Words::Word>& win = words.window();
  std::vector<Words::Word> winners;
  Rounds rounds(stand, 100, kMost);
  while (rounds.next()) {
    const auto place = static_cast<std::size_t>(rounds.number() - 1);
    const Rank target(static_cast<int>(place) % stand.ranks());
    const Words::Word mine = 1 + stand.rank();
    const Words::Word old = win.compare_and_swap(0, mine, target, words.at(target, place));
    winners.push_back(old == 0 ? mine : old);
  }
  win.fence();
  std::size_t start = 0;
  const std::vector<Words::Word> all = gather_words(stand, winners);
  const std::vector<std::uint64_t> counts = stand.job.gather(winners.size());
  for (int rank = 0; rank < stand.ranks(); ++rank) {
    const std::size_t count = counts[static_cast<std::size_t>(rank)];
    const std::size_t common = std::min<std::size_t>(count, winners.size());
    if (!std::ranges::equal(std::span(all).subspan(start, common),
                            std::span(winners).first(common))) {
      return fmt::format("rank {} knows of other winners", rank);
    }
    start += count;
  }
  return {};
}

}  // namespace oriel::conformance
