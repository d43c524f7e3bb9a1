// Locks under contention, groups that change, and windows over the same memory.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/litmus.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {

/// Read, add, write, which no one may come between.
std::string exclusive_lock(const Stand& stand) {
  Words words(stand, 1);
  Window<Words::Word>& win = words.window();
  Rounds rounds(stand, 40, 100'000);
  while (rounds.next()) {
    const Rank target(rounds.number() % 4 == 0 ? stand.ranks() - 1 : 0);
    LockGuard guard = win.lock(target, LockMode::exclusive);
    const Words::Word old = win.get(target, words.at(target, 0));
    win.put(old + 1, target, words.at(target, 0));
    guard.unlock();
  }
  win.fence();
  Words::Word sum = 0;
  for (int rank = 0; rank < stand.ranks(); ++rank) {
    sum += win.get(Rank(rank), words.at(Rank(rank), 0));
  }
  win.fence();
  const std::int64_t additions = stand.job.sum(rounds.number());
  if (sum == additions) return {};
  return fmt::format("{} additions under an exclusive lock made {}", additions, sum);
}

/// Two words, written one after the other under an exclusive lock, are alike under a shared one.
std::string untorn_pairs(const Stand& stand) {
  constexpr std::size_t kSecond = 100;
  Words words(stand, kSecond + 1);
  Window<Words::Word>& win = words.window();
  std::string wrong;
  Rounds rounds(stand, 60, 100'000);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Rank target(0);
    if ((round + stand.rank()) % 4 == 0) {
      const Words::Word value = round * stand.ranks() + stand.rank();
      LockGuard guard = win.lock(target, LockMode::exclusive);
      win.put(value, target, words.at(target, 0));
      win.put(value, target, words.at(target, kSecond));
      guard.unlock();
      continue;
    }
    LockGuard guard = round % 2 == 0 ? win.lock(target, LockMode::shared) : win.lock_all();
    const Words::Word second = win.get(target, words.at(target, kSecond));
    const Words::Word first = win.get(target, words.at(target, 0));
    guard.unlock();
    if (wrong.empty() && first != second) {
      wrong = fmt::format("round {}: a shared holder saw {} and {}", round, first, second);
    }
  }
  win.fence();
  return wrong;
}

/// Who goes to whom changes from round to round, and nothing but the epochs keeps rounds apart.
std::string changing_groups(const Stand& stand) {
  const auto ranks = static_cast<std::size_t>(stand.ranks());
  Words words(stand, ranks);
  Window<Words::Word>& win = words.window();
  const auto goes = [&](int origin, int target, std::int64_t round) {
    const auto pair = static_cast<std::uint64_t>(origin * stand.ranks() + target);
    return mix(static_cast<std::uint64_t>(round), pair) % 3 == 0;
  };
  std::string wrong;
  Rounds rounds(stand, 100, 3'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    std::vector<Rank> origins;
    std::vector<Rank> targets;
    for (int other = 0; other < stand.ranks(); ++other) {
      if (goes(other, stand.rank(), round)) origins.emplace_back(other);
      if (goes(stand.rank(), other, round)) targets.emplace_back(other);
    }
    if (!origins.empty()) win.post(origins);
    if (!targets.empty()) win.start(targets);
    for (const Rank target : targets) {
      win.put(round, target, words.at(target, static_cast<std::size_t>(stand.rank())));
    }
    if (!targets.empty()) win.complete();
    if (origins.empty()) continue;
    if (round % 2 == 0) {
      win.wait();
    } else {
      while (!win.test()) ::sched_yield();
    }
    for (const Rank origin : origins) {
      const Words::Word found = words.mine()[static_cast<std::size_t>(static_cast<int>(origin))];
      if (wrong.empty() && found != round) {
        wrong = fmt::format("round {}: rank {} completed, and its word was {}", round,
                            static_cast<int>(origin), found);
      }
    }
  }
  win.fence();
  return wrong;
}

/// What goes in through one window comes out through the other.
std::string two_windows(const Stand& stand) {
  constexpr std::size_t kCount = 64;
  std::vector<Words::Word> memory(kCount);
  const Team& team = stand.world;
  auto whole = Window<Words::Word>::create(team, memory);
  auto upper = Window<Words::Word>::create(team, std::span(memory).subspan(kCount / 2));
  std::string wrong;
  Rounds rounds(stand, 40, 1'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Words::Word value = round * stand.ranks() + stand.rank();
    whole.put(value, stand.right(), kCount / 2 + 3);
    whole.flush(stand.right());
    const Words::Word found = upper.get(stand.right(), 3);
    upper.fetch_add(1, stand.right(), 3);
    upper.flush(stand.right());
    const Words::Word old = whole.fetch_add(1, stand.right(), kCount / 2 + 3);
    whole.fence();
    const Words::Word last = memory[kCount / 2 + 3] - round * stand.ranks();
    if (wrong.empty() &&
        (found != value || old != value + 1 || last != static_cast<int>(stand.left()) + 2)) {
      wrong = fmt::format("round {}: after {} was put: {}, then {}, in the end the base and {}",
                          round, value, found, old, last);
    }
    upper.fence();
  }
  return wrong;
}

}  // namespace oriel::conformance
