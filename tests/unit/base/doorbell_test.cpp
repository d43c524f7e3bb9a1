#include "base/doorbell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace oriel::base {
namespace {

// Two threads hand a counter to and fro and sleep for each step. A single lost wake-up would let a
// sleep run into its limit, which is counted: with thousands of steps and an hour's limit the test
// would never end.
TEST(Doorbell, NeverLosesAWakeUp) {
  constexpr int kSteps = 20'000;
  Doorbell bells[2];
  std::atomic<int> turn{0};
  const auto play = [&](int me) {
    for (int step = me; step < kSteps; step += 2) {
      while (turn.load() != step) {
        bells[me].sleep([&] { return turn.load() == step; }, std::chrono::hours(1));
      }
      turn.store(step + 1);
      bells[1 - me].ring();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kSteps);
}

TEST(Doorbell, SleepEndsAtItsLimit) {
  Doorbell bell;
  int looks = 0;
  bell.sleep([&] { return ++looks > 100; }, std::chrono::microseconds(100));
  EXPECT_EQ(looks, 1);
}

TEST(Doorbell, DoesNotSleepWhenThereIsNothingToWaitFor) {
  Doorbell bell;
  bell.sleep([] { return true; }, std::chrono::hours(1));
}

}  // namespace
}  // namespace oriel::base
