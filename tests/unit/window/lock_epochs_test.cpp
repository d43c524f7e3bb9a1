// The locks of a window's two levels, over words in plain memory.

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>

#include "unit/sync/ranks.hpp"
#include "window/lock_epochs.hpp"

namespace oriel::window {
namespace {

constexpr std::uint64_t kFirst = QuickLocks::kEpochs + 1;

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
  EXPECT_EQ(of(1).atomics(), 6U);
  of(1).unlock(2);
  EXPECT_EQ(of(1).atomics(), 8U);
  of(1).unlock(0);
  EXPECT_EQ(of(1).atomics(), 10U);
  of(1).lock_all(false);
  of(1).unlock_all();
  EXPECT_EQ(of(1).atomics(), 12U);
  of(1).lock_all(true);
  of(1).unlock_all();
  EXPECT_EQ(of(1).atomics(), 12U);
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
  EXPECT_FALSE(of(2).all_held() && of(2).holds(std::nullopt, kFirst)) << "part 1 is still locked";
  of(1).unlock(1);
  waiter.join();
  EXPECT_TRUE(of(2).holds(std::nullopt, kFirst));
  of(2).unlock_all();
  EXPECT_EQ(window_lock().word, 0U);
}

// Who waits behind a lock of all parts has no part yet: nobody waits for it meanwhile.
TEST_F(LockEpochsOf, WhoQueuesBehindAllKeepsNobodyFromItsPart) {
  of(0).lock(1, LockMode::exclusive, false);
  std::thread all([&] {
    of(2).lock_all(false);
    of(2).unlock_all();
  });
  while (window_lock().head() == 0) ::sched_yield();
  std::thread one([&] {
    of(1).lock(2, LockMode::exclusive, false);
    of(1).unlock(2);
  });
  while (sync::load(ranks_.words[2].lock_node.next) == 0)
    ::sched_yield();  // it is behind the other
  of(0).lock(2, LockMode::shared, false);
  of(0).unlock(2);
  of(0).unlock(1);
  all.join();
  one.join();
  EXPECT_EQ(window_lock().word, 0U);
  EXPECT_EQ(part_lock(2).word, 0U);
}

// A shared holder that asks for an exclusive part passes who waits for all, as that one may be
// waiting for it.
TEST_F(LockEpochsOf, AHolderPassesWhoWaitsForAll) {
  of(0).lock(0, LockMode::shared, false);
  std::thread holder([&] {  // in the crowd, and waits for what is held
    of(1).lock(0, LockMode::exclusive, false);
    of(1).unlock(0);
  });
  while (part_lock(0).head() == 0) ::sched_yield();
  std::thread all([&] {
    of(2).lock_all(false);
    of(2).unlock_all();
  });
  while (window_lock().head() == 0) ::sched_yield();
  of(0).lock(1, LockMode::exclusive, false);
  of(0).unlock(1);
  of(0).unlock(0);
  holder.join();
  all.join();
  EXPECT_EQ(window_lock().word, 0U);
}

// But not who holds all of them.
TEST_F(LockEpochsOf, AHolderWaitsForWhoHoldsAll) {
  of(0).lock(0, LockMode::shared, false);
  of(2).lock_all(false);
  std::atomic<bool> got{false};
  std::thread holder([&] {
    of(0).lock(1, LockMode::exclusive, false);
    got = true;
  });
  for (int i = 0; i < 200; ++i) ::sched_yield();
  EXPECT_FALSE(got);
  of(2).unlock_all();
  holder.join();
  of(0).unlock(1);
  of(0).unlock(0);
  EXPECT_EQ(window_lock().word, 0U);
}

TEST_F(LockEpochsOf, WhatIsBeingTakenCountsAsHeldButCannotBeGivenBack) {
  of(1).lock(2, LockMode::exclusive, false);
  std::thread waiter([&] { of(0).lock(2, LockMode::shared, false); });
  while (part_lock(2).head() == 0) ::sched_yield();
  // The thread is at rest now but for looks at its words: the epochs are not being changed.
  EXPECT_THROW(of(0).lock(2, LockMode::shared, false), Error);
  EXPECT_THROW(of(0).lock_all(false), Error);
  EXPECT_THROW(of(0).unlock(2), Error);
  EXPECT_FALSE(of(0).holds(2, kFirst));
  of(1).unlock(2);
  waiter.join();
  EXPECT_TRUE(of(0).holds(2, kFirst));
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
