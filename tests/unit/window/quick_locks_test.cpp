// The short way to a lock, beside the long one, over words in plain memory.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <thread>
#include <vector>

#include "unit/sync/ranks.hpp"
#include "window/lock_epochs.hpp"

namespace oriel::window {
namespace {

class QuickLocksOf : public testing::Test {
 protected:
  static constexpr int kRanks = 3;

  QuickLocksOf() {
    for (auto& words : ranks_.words) mapped_.push_back(&words);
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      epochs_.emplace_back(ranks_.words[index], ranks_.partners(rank), ranks_.progress[index],
                           ranks_.vigils[index], 7, mapped_);
    }
  }
  ~QuickLocksOf() override {
    for (const sync::ControlWords* words : mapped_) {
      EXPECT_EQ(words->part_lock.state, 0U);
      EXPECT_EQ(words->window_lock.state, 0U);
    }
  }
  [[nodiscard]] LockEpochs& of(int rank) { return epochs_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] QuickLocks& quick(int rank) { return of(rank).quick(); }
  [[nodiscard]] sync::LockState part_lock(std::size_t part) {
    return {sync::load(ranks_.words[part].part_lock.state)};
  }
  [[nodiscard]] sync::LockState window_lock() {
    return {sync::load(ranks_.words[0].window_lock.state)};
  }

  test::Ranks ranks_{kRanks};
  std::vector<sync::ControlWords*> mapped_;
  std::deque<LockEpochs> epochs_;
};

TEST_F(QuickLocksOf, TakeWhatTheLongWayTakes) {
  ASSERT_TRUE(quick(1).lock(2, false));
  EXPECT_EQ(part_lock(2).a(), 1U);
  EXPECT_EQ(window_lock().word, 0U);
  EXPECT_TRUE(quick(1).unlock(2, 0));
  ASSERT_TRUE(quick(1).lock(2, true));
  EXPECT_EQ(part_lock(2).a(), 1U);
  EXPECT_EQ(part_lock(2).b(), 1U);
  EXPECT_EQ(window_lock().a(), 0U);
  EXPECT_EQ(window_lock().b(), 1U);
  EXPECT_TRUE(quick(1).unlock(2, 0));
  ASSERT_TRUE(quick(1).lock(QuickLocks::kAllParts, false));
  EXPECT_EQ(window_lock().a(), 1U);
  EXPECT_TRUE(quick(1).unlock(QuickLocks::kAllParts, 0));
  EXPECT_EQ(of(1).atomics(), 0U);
}

TEST_F(QuickLocksOf, AreNotForWhoHoldsSomething) {
  const auto first = quick(1).lock(2, true);
  ASSERT_TRUE(first);
  EXPECT_FALSE(quick(1).lock(0, false));
  EXPECT_FALSE(quick(1).unlock(0, 0));
  {
    const LockEpochs::Charge charge(of(1));
    EXPECT_TRUE(of(1).holds(2, first));
    of(1).lock(0, LockMode::exclusive, false);
    EXPECT_EQ(window_lock().b(), 2U);
  }
  EXPECT_FALSE(quick(1).unlock(2, first)) << "was taken over";
  {
    const LockEpochs::Charge charge(of(1));
    of(1).unlock(2);
    EXPECT_EQ(window_lock().b(), 1U);
    of(1).unlock(0);
  }
  ASSERT_TRUE(quick(1).lock(0, false)) << "nothing is held any more";
  EXPECT_TRUE(quick(1).unlock(0, 0));
}

TEST_F(QuickLocksOf, AGuardThatComesTooLateGivesNothingBack) {
  const auto first = quick(0).lock(1, false);
  ASSERT_TRUE(first);
  EXPECT_TRUE(quick(0).unlock(1, 0));
  const auto second = quick(0).lock(1, false);
  ASSERT_TRUE(second);
  EXPECT_FALSE(quick(0).unlock(1, first));
  EXPECT_FALSE(quick(0).unlock(2, second));
  EXPECT_FALSE(quick(0).unlock(QuickLocks::kAllParts, second));
  EXPECT_TRUE(quick(0).unlock(1, second));
  EXPECT_FALSE(quick(0).unlock(1, second));
}

TEST_F(QuickLocksOf, LeaveThingsAsTheyWereIfSomebodyIsInTheWay) {
  ASSERT_TRUE(quick(1).lock(2, true));
  EXPECT_FALSE(quick(0).lock(2, false));
  EXPECT_FALSE(quick(0).lock(2, true));
  EXPECT_FALSE(quick(0).lock(QuickLocks::kAllParts, false));
  EXPECT_TRUE(quick(1).unlock(2, 0));
  ASSERT_TRUE(quick(1).lock(QuickLocks::kAllParts, false));
  EXPECT_FALSE(quick(0).lock(2, true)) << "would join the crowd";
  EXPECT_EQ(part_lock(2).word, 0U);
  ASSERT_TRUE(quick(0).lock(2, false));
  EXPECT_TRUE(quick(0).unlock(2, 0));
  EXPECT_TRUE(quick(1).unlock(QuickLocks::kAllParts, 0));
}

/// Takes a lock as a window does: the short way, or else the long one.
class Holding {
 public:
  Holding(LockEpochs& locks, transport::Progress& progress, int target, bool exclusive)
      : locks_(locks), progress_(progress), target_(target) {
    if (locks_.quick().lock(target_, exclusive)) return;
    const transport::Progress::Turn turn(progress_);
    const LockEpochs::Charge charge(locks_);
    if (target == QuickLocks::kAllParts) {
      locks_.lock_all(false);
    } else {
      locks_.lock(target, exclusive ? LockMode::exclusive : LockMode::shared, false);
    }
  }
  ~Holding() {
    if (locks_.quick().unlock(target_, 0)) return;
    const transport::Progress::Turn turn(progress_);
    const LockEpochs::Charge charge(locks_);
    target_ == QuickLocks::kAllParts ? locks_.unlock_all() : locks_.unlock(target_);
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  LockEpochs& locks_;
  transport::Progress& progress_;
  int target_;
};

// Plain counters, one for each part, which an exclusive holder moves in two steps.
TEST_F(QuickLocksOf, ExcludeTogetherWithTheLongWay) {
  struct Counter {
    long begun = 0;
    long ended = 0;
  };
  constexpr int kRounds = 3000;
  std::array<Counter, kRanks> counters{};
  std::array<long, kRanks> moved{};
  const auto run = [&](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    transport::Progress& progress = ranks_.progress[index];
    for (int round = 0; round < kRounds; ++round) {
      const int part = (rank + round / 3) % kRanks;
      Counter& counter = counters[static_cast<std::size_t>(part)];
      if (round % 7 == 0) {
        const Holding all(of(rank), progress, QuickLocks::kAllParts, false);
        for (const Counter& one : counters) EXPECT_EQ(one.begun, one.ended);
      } else if (round % 3 == 0) {
        const Holding shared(of(rank), progress, part, false);
        EXPECT_EQ(counter.begun, counter.ended);
      } else {
        const Holding exclusive(of(rank), progress, part, true);
        ++counter.begun;
        if (round % 5 == 0 && part + 1 < kRanks) {  // in one order: else they wait in a circle
          const Holding more(of(rank), progress, part + 1, false);  // the long way takes over
        }
        ++counter.ended;
        ++moved[index];
      }
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  long ended = 0;
  for (const Counter& one : counters) ended += one.ended;
  EXPECT_EQ(ended, moved[0] + moved[1] + moved[2]);
}

// Two threads of one rank: of one lock one of them gets its way, and an error tells the other.
TEST_F(QuickLocksOf, OfTwoThreadsOfARankOneHolds) {
  constexpr int kRounds = 2000;
  long counter = 0;
  std::array<long, 2> moved{};
  const auto run = [&](std::size_t thread) {
    for (int round = 0; round < kRounds; ++round) {
      try {
        const Holding exclusive(of(0), ranks_.progress[0], 1, true);
        ++counter;
        ++moved[thread];
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::wrong_epoch);
      }
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(counter, moved[0] + moved[1]);
  EXPECT_GT(counter, 0);
}

}  // namespace
}  // namespace oriel::window
