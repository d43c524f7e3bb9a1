// The locks of a window's two levels, over words in plain memory.

#include <gtest/gtest.h>
#include <sched.h>

#include <deque>
#include <optional>
#include <thread>

#include "unit/sync/ranks.hpp"
#include "window/lock_epochs.hpp"

namespace oriel::window {
namespace {

class LockEpochsOf : public testing::Test {
 protected:
  LockEpochsOf() {
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      epochs_.emplace_back(ranks_.words[index], ranks_.partners(rank), ranks_.progress[index],
                           ranks_.vigils[index], 7);
    }
  }
  [[nodiscard]] LockEpochs& of(int rank) { return epochs_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] sync::LockState window_lock() {
    return {sync::load(ranks_.words[0].window_lock.state)};
  }
  [[nodiscard]] sync::LockState part_lock(std::size_t part) {
    return {sync::load(ranks_.words[part].part_lock.state)};
  }

  test::Ranks ranks_{3};
  std::deque<LockEpochs> epochs_;
};

TEST_F(LockEpochsOf, CostOneOrTwoAtomics) {
  of(1).lock(2, LockMode::shared, false);
  EXPECT_EQ(of(1).atomics(), 1U);
  of(1).unlock(2);
  EXPECT_EQ(of(1).atomics(), 2U);
  of(1).lock(2, LockMode::exclusive, false);
  EXPECT_EQ(of(1).atomics(), 4U);
  of(1).lock(0, LockMode::exclusive, false);
  EXPECT_EQ(of(1).atomics(), 5U) << "is in the crowd already";
  of(1).unlock(2);
  EXPECT_EQ(of(1).atomics(), 6U);
  of(1).unlock(0);
  EXPECT_EQ(of(1).atomics(), 8U);
  of(1).lock_all(false);
  of(1).unlock_all();
  EXPECT_EQ(of(1).atomics(), 10U);
  of(1).lock_all(true);
  of(1).unlock_all();
  EXPECT_EQ(of(1).atomics(), 10U);
  EXPECT_EQ(window_lock().word, 0U);
  EXPECT_EQ(part_lock(2).word, 0U);
}

// Who holds an exclusive part and asks for another does not queue behind a lock of all parts, which
// waits for it.
TEST_F(LockEpochsOf, AFurtherPartIsNotKeptBehindWhoWaitsForAll) {
  of(1).lock(0, LockMode::exclusive, false);
  std::thread waiter([&] { of(2).lock_all(false); });
  while (window_lock().head() == 0) ::sched_yield();
  of(1).lock(1, LockMode::exclusive, false);
  of(1).unlock(0);
  EXPECT_FALSE(of(2).all_held() && of(2).holds(std::nullopt, 1)) << "part 1 is still locked";
  of(1).unlock(1);
  waiter.join();
  EXPECT_TRUE(of(2).holds(std::nullopt, 1));
  of(2).unlock_all();
  EXPECT_EQ(window_lock().word, 0U);
}

// Who waits for an exclusive part has nothing yet, and keeps nobody from all parts.
TEST_F(LockEpochsOf, WhoWaitsForAPartDoesNotKeepOutWhoWantsAll) {
  of(0).lock(1, LockMode::shared, false);
  std::thread waiter([&] { of(2).lock(1, LockMode::exclusive, false); });
  while (part_lock(1).head() == 0) ::sched_yield();
  of(1).lock_all(false);  // beside a shared holder
  of(1).unlock_all();
  of(0).unlock(1);
  waiter.join();
  of(2).unlock(1);
  EXPECT_EQ(part_lock(1).word, 0U);
}

TEST_F(LockEpochsOf, WhatIsBeingTakenCountsAsHeldButCannotBeGivenBack) {
  of(1).lock(2, LockMode::exclusive, false);
  std::thread waiter([&] { of(0).lock(2, LockMode::shared, false); });
  while (part_lock(2).head() == 0) ::sched_yield();
  // The thread is at rest now but for looks at its words: the epochs are not being changed.
  EXPECT_THROW(of(0).lock(2, LockMode::shared, false), Error);
  EXPECT_THROW(of(0).lock_all(false), Error);
  EXPECT_THROW(of(0).unlock(2), Error);
  EXPECT_FALSE(of(0).holds(2, 1));
  of(1).unlock(2);
  waiter.join();
  EXPECT_TRUE(of(0).holds(2, 1));
  of(0).unlock(2);
  EXPECT_EQ(part_lock(2).word, 0U);
}

TEST_F(LockEpochsOf, ErrorsSayWhichPartAndWindow) {
  try {
    of(1).unlock(2);
    ADD_FAILURE() << "was held";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::wrong_epoch);
    EXPECT_EQ(error.details().origin, 1);
    EXPECT_EQ(error.details().target, 2);
    EXPECT_EQ(error.details().window, 7U);
    EXPECT_FALSE(error.details().hint.empty());
  }
}

}  // namespace
}  // namespace oriel::window
