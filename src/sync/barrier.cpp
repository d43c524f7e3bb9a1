#include "sync/barrier.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "sync/flush.hpp"

namespace oriel::sync {
namespace {

constexpr std::chrono::seconds kProbeInterval{1};

std::uint64_t load(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

constexpr std::size_t round_offset(std::size_t round) {
  return offsetof(ControlWords, round) + round * sizeof(std::uint64_t);
}

}  // namespace

std::vector<int> round_distances(int ranks) {
  std::vector<int> distances;
  for (std::int64_t distance = 1; distance < ranks; distance *= 2) {
    distances.push_back(static_cast<int>(distance));
  }
  return distances;
}

Barrier::Barrier(std::span<const int> members, int rank, std::vector<Round> rounds,
                 ControlWords& mine, transport::Progress& progress, transport::PeerHealth& health)
    : members_(members),
      rank_(static_cast<std::size_t>(rank)),
      rounds_(std::move(rounds)),
      mine_(mine),
      progress_(progress),
      health_(health) {}

void Barrier::wait(std::string_view operation) {
  try {
    ++epoch_;
    check_alive(operation);
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      signal(rounds_[round].ahead, round_offset(round), epoch_);
      wait_for(operation, round);
    }
    drain();
    completed_ = epoch_;
  } catch (const Error& error) {
    give_up(&error);
    throw;
  }
}

void Barrier::signal(const Partner& to, std::size_t byte_offset, std::uint64_t value) {
  ++signals_;
  post(progress_, [&] { return to.endpoint->signal(value, to.words.plus(byte_offset), done_); });
}

// This rank's signals must be done before anyone may free what they go through.
void Barrier::drain() {
  for (const auto& [ahead, behind] : rounds_) {
    for (const Partner* partner : {&ahead, &behind}) {
      if (done_.remote_pending == 0) return;
      post(progress_, [&] { return partner->endpoint->seal(done_); });
    }
  }
  wait_remote(progress_, done_);
}

void Barrier::wait_for(std::string_view operation, std::size_t round) {
  transport::Endpoint& from = *rounds_[round].behind.endpoint;
  auto probe_at = std::chrono::steady_clock::now() + kProbeInterval;
  const auto look_around = [&] {
    check_alive(operation);
    if (const Error* failure = from.failure()) throw Error(*failure);
    if (std::chrono::steady_clock::now() < probe_at) return;
    from.probe();
    probe_at = std::chrono::steady_clock::now() + kProbeInterval;
  };
  progress_.wait([&]() noexcept { return load(mine_.round[round]) >= epoch_; }, look_around);
}

/// Ends the wait if `departure` concerns this barrier. A death that it tells of counts whatever the
/// barrier, and for more than what this rank sees itself: a survivor may have left, ended and been
/// found dead meanwhile, and is not to blame.
void Barrier::check_departure(std::string_view operation, const Departure& departure) const {
  if (departure.culprit >= members_.size()) return;
  const int culprit = members_[departure.culprit];
  if (departure.dead) {
    health_.report_dead(culprit, "another rank has lost it");
    throw_lost(operation, culprit);
  }
  if (departure.barriers >= epoch_) return;
  base::throw_error(ErrorCode::peer_failed,
                    {.operation = std::string(operation),
                     .problem = fmt::format("team rank {} left it by an error", departure.culprit),
                     .origin = members_[rank_],
                     .target = culprit,
                     .target_host = health_.host(culprit),
                     .hint = "the first error of the job's output tells why"});
}

/// What others are to be told of the failure that this rank met: who started it is passed on, not
/// who passed it on.
Departure Barrier::departure(const Error* why) const noexcept {
  Departure departure{
      .barriers = completed_, .culprit = static_cast<std::uint32_t>(rank_), .dead = false};
  const bool passed_on = why != nullptr && (why->code() == ErrorCode::peer_lost ||
                                            why->code() == ErrorCode::peer_failed);
  const auto found =
      passed_on ? std::ranges::find(members_, why->details().target.value_or(-1)) : members_.end();
  if (found != members_.end()) {
    departure.culprit = static_cast<std::uint32_t>(found - members_.begin());
    departure.dead = why->code() == ErrorCode::peer_lost;
  }
  return departure;
}

void Barrier::check_alive(std::string_view operation) const {
  for (std::size_t index = 0; index < 2 * rounds_.size(); ++index) {
    const std::uint64_t word = load(mine_.gave_up[index]);
    if (word != 0) check_departure(operation, Departure::unpack(word));
  }
  if (health_.deaths() == 0) return;
  // In the order of their deaths: a survivor that has left and ended after the first one is not to
  // blame.
  for (const transport::PeerHealth::Death& death : health_.list()) {
    if (std::ranges::find(members_, death.rank) != members_.end())
      throw_lost(operation, death.rank);
  }
}

void Barrier::throw_lost(std::string_view operation, int world_rank) const {
  const auto death = health_.find(world_rank).value_or(transport::PeerHealth::Death{});
  base::throw_error(
      ErrorCode::peer_lost,
      {.operation = std::string(operation),
       .problem = death.how,
       .origin = members_[rank_],
       .target = world_rank,
       .target_host = death.host,
       .hint = "see why that rank ended: its last output, the kernel log (out of memory?)"});
}

void Barrier::tell(const Partner& partner, std::size_t word, const Departure& farewell) {
  if (partner.endpoint->failure() != nullptr) return;
  signal(partner, offsetof(ControlWords, gave_up) + word * sizeof(std::uint64_t),
         farewell.packed());
}

void Barrier::give_up(const Error* why) noexcept {
  if (given_up_) return;
  given_up_ = true;
  const Departure farewell = departure(why);
  try {
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      // I am the one behind for the partner ahead, and the other way round.
      tell(rounds_[round].ahead, 2 * round + 1, farewell);
      tell(rounds_[round].behind, 2 * round, farewell);
    }
    drain();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::info, "telling the team of a failure: {}", error.what());
  }
}

}  // namespace oriel::sync
