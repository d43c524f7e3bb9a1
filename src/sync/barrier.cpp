#include "sync/barrier.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <utility>

#include "base/log.hpp"
#include "sync/flush.hpp"

namespace oriel::sync {
namespace {

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

namespace {

/// Whom place `mine` of `places` meets, as places.
template <class RankAt>
void meet(std::vector<Meeting>& all, int places, int mine, RankAt&& rank_at) {
  for (const int distance : round_distances(places)) {
    all.push_back(
        {rank_at((mine + distance) % places), rank_at((mine + places - distance) % places)});
  }
}

}  // namespace

std::vector<Meeting> meetings(int ranks, int rank) {
  std::vector<Meeting> all;
  meet(all, ranks, rank, [](int place) { return place; });
  return all;
}

std::vector<Meeting> meetings(std::span<const int> nodes, int rank) {
  std::map<int, std::vector<int>> machines;  // by number: their ranks
  for (std::size_t member = 0; member < nodes.size(); ++member)
    machines[nodes[member]].push_back(static_cast<int>(member));
  const std::vector<int>& mine = machines.at(nodes[static_cast<std::size_t>(rank)]);
  const bool alike = std::ranges::all_of(
      machines, [&](const auto& machine) { return machine.second.size() == mine.size(); });
  if (!alike) return meetings(static_cast<int>(nodes.size()), rank);
  const auto place = std::ranges::find(mine, rank) - mine.begin();
  std::vector<int> others;  // of the same place, by machine
  for (const auto& [number, ranks] : machines)
    others.push_back(ranks[static_cast<std::size_t>(place)]);
  const auto machine = std::ranges::find(others, rank) - others.begin();
  const auto among = [](const std::vector<int>& ranks) {
    return [&](int at) { return ranks[static_cast<std::size_t>(at)]; };
  };
  std::vector<Meeting> all;
  meet(all, static_cast<int>(mine.size()), static_cast<int>(place), among(mine));
  meet(all, static_cast<int>(others.size()), static_cast<int>(machine), among(others));
  return all;
}

Barrier::Barrier(std::span<const int> members, int rank, std::vector<Round> rounds,
                 ControlWords& mine, transport::Progress& progress, transport::PeerHealth& health)
    : members_(members),
      rank_(static_cast<std::size_t>(rank)),
      rounds_(std::move(rounds)),
      mine_(mine),
      progress_(progress),
      health_(health),
      vigil_(members, rank, mine, health) {}

void Barrier::wait(std::string_view operation) {
  step(operation, [&] {
    ++epoch_;
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      signal(rounds_[round].ahead, round_offset(round), epoch_);
      wait_for(operation, round);
    }
  });
}

void Barrier::signal(const Partner& to, std::size_t byte_offset, std::uint64_t value) {
  ++signals_;
  post(progress_, [&] { return to.endpoint->signal(value, to.words.plus(byte_offset), done_); });
}

// What this rank has posted must be done before anyone may free what it goes through.
void Barrier::drain() {
  for (const Round& round : rounds_) {
    for (const Partner* partner : {&round.ahead, &round.behind}) {
      if (done_.remote_pending == 0) return;
      post(progress_, [&] { return partner->endpoint->seal(done_); });
    }
  }
  wait_remote(progress_, done_);
}

void Barrier::wait_for(std::string_view operation, std::size_t round) {
  progress_.wait([&]() noexcept { return load(mine_.round[round]) >= epoch_; },
                 watch(operation, *rounds_[round].behind.endpoint));
}

/// While `error` is handled: leaves by it, or by what lies behind it. A partner that has been told
/// of somebody else's failure, and has ended, is not to blame for not answering any more.
void Barrier::fail(std::string_view operation, const Error& error) {
  try {
    vigil_.check(operation);
  } catch (const Error& cause) {
    give_up(&cause);
    throw;
  }
  give_up(&error);
  throw;
}

/// What others are to be told of the failure that this rank met: who started it is passed on, not
/// who passed it on; who leaves with a member dead leaves because of that.
Departure Barrier::departure(const Error* why) const {
  Departure departure{
      .barriers = completed_, .culprit = static_cast<std::uint32_t>(rank_), .dead = false};
  const auto blame = [&](int world_rank, bool dead) {
    const auto found = std::ranges::find(members_, world_rank);
    if (found == members_.end()) return false;
    departure.culprit = static_cast<std::uint32_t>(found - members_.begin());
    departure.dead = dead;
    return true;
  };
  const bool lost = why != nullptr && why->code() == ErrorCode::peer_lost;
  const bool passed_on = lost || (why != nullptr && why->code() == ErrorCode::peer_failed);
  if (passed_on && blame(why->details().target.value_or(-1), lost)) return departure;
  for (const transport::PeerHealth::Death& death : health_.list()) {
    if (blame(death.rank, true)) break;
  }
  return departure;
}

// Whoever is dead has no use for it, and no answer.
void Barrier::tell(const Partner& partner, int member, std::size_t word,
                   const Departure& farewell) {
  if (health_.find(members_[static_cast<std::size_t>(member)])) return;
  if (partner.endpoint->failure() != nullptr) return;
  signal(partner, offsetof(ControlWords, gave_up) + word * sizeof(std::uint64_t),
         farewell.packed());
}

void Barrier::tell_partners(const Departure& farewell) {
  for (std::size_t number = 0; number < rounds_.size(); ++number) {
    const Round& round = rounds_[number];
    // I am the one behind for the partner ahead, and the other way round.
    tell(round.ahead, round.ranks.ahead, 2 * number + 1, farewell);
    tell(round.behind, round.ranks.behind, 2 * number, farewell);
  }
}

void Barrier::give_up(const Error* why) noexcept {
  try {
    if (!std::exchange(given_up_, true)) tell_partners(departure(why));
    drain();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::info, "telling the team of a failure: {}", error.what());
  }
}

}  // namespace oriel::sync
