// Locks that many want at once: each other's exclusion, and everybody's turn.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "unit/sync/locks.hpp"

namespace oriel::sync {
namespace {

using test::index_of;
using test::kPart;
using test::kWindow;
using test::Locks;
using test::Mode;
using test::pause;

/// What a lock guards: plain memory, so that a data race is one. The crowd's members write a place
/// of their own each, the shared read all of them, the exclusive write all of them.
class Guarded {
 public:
  void use(int rank, Mode mode) {
    std::atomic<int>& mine = inside_[static_cast<std::size_t>(mode)];
    ++mine;
    check(mode);
    if (mode == Mode::shared) {
      for (const int one : places_) sum_ = sum_.load() + (one & 1);
    } else if (mode == Mode::crowd) {
      ++places_[index_of(rank)];
    } else {
      for (int& one : places_) ++one;
      ++plain_;
    }
    pause();
    check(mode);
    --mine;
    ++uses_[index_of(rank)];
  }
  [[nodiscard]] int violations() const { return violations_; }
  [[nodiscard]] int exclusive_uses() const { return plain_; }
  [[nodiscard]] int uses(int rank) const { return uses_[index_of(rank)]; }

 private:
  void check(Mode mode) {
    const int shared = inside_[0];
    const int crowd = inside_[1];
    const int exclusive = inside_[2];
    const bool fine = mode == Mode::shared  ? crowd + exclusive == 0
                      : mode == Mode::crowd ? shared + exclusive == 0
                                            : exclusive == 1 && shared + crowd == 0;
    if (!fine) ++violations_;
  }

  std::array<std::atomic<int>, 3> inside_{};
  std::array<int, 16> places_{};
  std::array<std::atomic<int>, 16> uses_{};
  std::atomic<int> sum_ = 0;
  std::atomic<int> violations_ = 0;
  int plain_ = 0;
};

struct Mix {
  const char* name;
  std::vector<Mode> modes;  ///< of rank r in round n: element r + n
};

class LockUnderContention : public testing::TestWithParam<Mix> {};

TEST_P(LockUnderContention, ExcludesAndServesEverybody) {
  constexpr int kRanks = 8;
  constexpr int kRounds = 60;
  const std::vector<Mode>& modes = GetParam().modes;
  Locks locks(kRanks);
  Guarded guarded;
  std::atomic<int> exclusive{0};
  locks.on_all([&](int rank) {
    for (int round = 0; round < kRounds; ++round) {
      const Mode mode = modes[index_of(rank + round) % modes.size()];
      locks.lock(rank, mode);
      guarded.use(rank, mode);
      locks.unlock(rank, mode);
      if (mode == Mode::exclusive) ++exclusive;
    }
  });
  EXPECT_EQ(guarded.violations(), 0);
  EXPECT_EQ(guarded.exclusive_uses(), exclusive);
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(guarded.uses(rank), kRounds);
  locks.expect_free();
}

INSTANTIATE_TEST_SUITE_P(
    Mixes, LockUnderContention,
    testing::Values(Mix{"exclusive", {Mode::exclusive}}, Mix{"shared", {Mode::shared}},
                    Mix{"crowd", {Mode::crowd}},
                    Mix{"reads_and_writes", {Mode::shared, Mode::shared, Mode::exclusive}},
                    Mix{"two_kinds", {Mode::shared, Mode::crowd}},
                    Mix{"all", {Mode::shared, Mode::crowd, Mode::exclusive, Mode::crowd}}),
    [](const auto& mix) { return mix.param.name; });

TEST(QueuedLock, ThreadsOfOneRankShareANode) {
  constexpr int kRounds = 60;
  Locks locks(4);
  Guarded guarded;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      const Mode mode = number % 3 == 0 ? Mode::shared : Mode::exclusive;
      for (int round = 0; round < kRounds; ++round) {
        locks.lock(number % 4, mode);
        guarded.use(number, mode);
        locks.unlock(number % 4, mode);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(guarded.violations(), 0);
  for (int number = 0; number < 8; ++number) EXPECT_EQ(guarded.uses(number), kRounds);
  locks.expect_free();
}

// As a window does: lock_all() is shared at the window, an exclusive lock of a part enters there
// with the crowd first, a shared one of a part needs nothing there.
TEST(QueuedLock, LocksOfAllPartsAndOfOneExcludeEachOther) {
  constexpr int kRanks = 8;
  constexpr int kRounds = 60;
  Locks locks(kRanks);
  std::array<Guarded, 2> parts;
  locks.on_all([&](int rank) {
    for (int round = 0; round < kRounds; ++round) {
      const int owner = (rank + round) % 2;
      if ((rank + round) % 4 == 0) {
        locks.lock(rank, Mode::shared, 0, kWindow);
        for (Guarded& part : parts) part.use(rank, Mode::shared);
        locks.unlock(rank, Mode::shared, 0, kWindow);
      } else {
        locks.lock(rank, Mode::crowd, 0, kWindow);
        locks.lock(rank, Mode::exclusive, owner);
        parts[index_of(owner)].use(rank, Mode::exclusive);
        locks.unlock(rank, Mode::exclusive, owner);
        locks.unlock(rank, Mode::crowd, 0, kWindow);
      }
    }
  });
  for (const Guarded& part : parts) EXPECT_EQ(part.violations(), 0);
  locks.expect_free();
}

/// Sees when its rank has come to the end of a queue that has a head.
class QueueingEndpoint final : public test::MemoryEndpoint {
 public:
  QueueingEndpoint(Locks& locks, const std::atomic<int>& taken) : locks_(locks), taken_(taken) {}
  [[nodiscard]] PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                            std::uint64_t* result, RemoteAddress target,
                                            Completion& done) override {
    const auto posted = MemoryEndpoint::compare_and_swap(compare, swap, result, target, done);
    const bool at_tail =
        target.address == reinterpret_cast<std::uint64_t>(&locks_.words[0].part_lock.tail);
    if (at_tail && *result == compare && swap != 0 && locks_.state().head() != 0) {
      taken_before = taken_.load();
    }
    return posted;
  }
  int taken_before = -1;

 private:
  Locks& locks_;
  const std::atomic<int>& taken_;
};

TEST(QueuedLock, WhoHasQueuedIsPassedByThoseBeforeItAlone) {
  constexpr int kRanks = 8;
  constexpr int kRounds = 60;
  Locks locks(kRanks);
  std::atomic<int> taken{0};
  std::atomic<int> queued{0};
  std::atomic<int> most{0};
  locks.on_all([&](int rank) {
    QueueingEndpoint endpoint(locks, taken);
    QueuedLock lock(
        locks.words[index_of(rank)], &ControlWords::lock_node,
        [&](int other) {
          return Partner{&endpoint, locks.partner(rank, other).words};
        },
        locks.progress[index_of(rank)], locks.vigils[index_of(rank)]);
    const Place at{&endpoint, locks.partner(rank, 0).at(kPart).address};
    for (int round = 0; round < kRounds; ++round) {
      endpoint.taken_before = -1;
      lock.lock("lock", at, Mode::exclusive);
      const int before_me = taken++ - endpoint.taken_before;
      if (endpoint.taken_before >= 0) {
        ++queued;
        for (int seen = most; before_me > seen && !most.compare_exchange_weak(seen, before_me);) {
        }
      }
      pause();
      lock.unlock(at, Mode::exclusive);
    }
  });
  EXPECT_EQ(taken, kRanks * kRounds);
  EXPECT_GT(queued, 0);
  EXPECT_LE(most, kRanks - 1);
}

}  // namespace
}  // namespace oriel::sync
