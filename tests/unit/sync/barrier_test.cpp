#include "sync/barrier.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <bit>
#include <thread>

#include "unit/sync/ranks.hpp"

namespace oriel::sync {
namespace {

using test::Ranks;
using testing::HasSubstr;

class BarrierOf : public testing::TestWithParam<int> {};

TEST_P(BarrierOf, NobodyLeavesBeforeAllHaveEntered) {
  const int size = GetParam();
  constexpr int kBarriers = 300;
  Ranks group(size);
  std::atomic<int> entered{0};
  std::atomic<int> too_early{0};
  group.on_all([&](int rank) {
    Barrier& barrier = group.barrier(rank);
    for (int number = 1; number <= kBarriers; ++number) {
      if ((rank + number) % 7 == 0) std::this_thread::yield();
      ++entered;
      barrier.wait("test");
      if (entered.load() < number * size) ++too_early;
    }
  });
  EXPECT_EQ(too_early.load(), 0);
  EXPECT_EQ(entered.load(), kBarriers * size);
}

TEST_P(BarrierOf, CostsLogarithmicallyManySignals) {
  const int size = GetParam();
  Ranks group(size);
  group.on_all([&](int rank) { group.barrier(rank).wait("test"); });
  for (const Barrier& barrier : group.barriers) {
    EXPECT_EQ(barrier.signals(), std::bit_width(static_cast<unsigned>(size - 1)));
  }
}

TEST_P(BarrierOf, OneWhoGivesUpStrandsNobody) {
  const int size = GetParam();
  Ranks group(size);
  std::atomic<int> told{0};
  group.on_all([&](int rank) {
    Barrier& barrier = group.barrier(rank);
    barrier.wait("test");
    if (rank == size - 1) return barrier.give_up();
    try {
      for (;;) barrier.wait("test");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_failed);
      EXPECT_EQ(error.details().target, size - 1);
      EXPECT_THAT(error.what(), HasSubstr("left it by an error"));
      ++told;
    }
  });
  EXPECT_EQ(told.load(), size - 1);
}

TEST_P(BarrierOf, ADeathThatOneRankLearnsOfEndsTheWaitOfAll) {
  const int size = GetParam();
  if (size < 3) GTEST_SKIP() << "needs one dead, one who knows, and one who does not";
  Ranks group(size);
  std::atomic<int> told{0};
  group.on_all([&](int rank) {
    Barrier& barrier = group.barrier(rank);
    if (rank == 0) return;  // dead: takes no part
    if (rank == 1) group.health[1].report_dead(0, "its process has ended");
    try {
      barrier.wait("fence");
      ADD_FAILURE() << "rank " << rank << " passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost);
      EXPECT_EQ(error.details().target, 0);
      EXPECT_THAT(error.what(), HasSubstr("nodeX"));
      ++told;
    }
  });
  EXPECT_EQ(told.load(), size - 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BarrierOf, testing::Values(1, 2, 3, 4, 5, 7, 8, 13));

TEST(Barrier, WaitsForRoomToSignal) {
  Ranks group(2);
  group.endpoints[0].refusals = 1000;
  group.on_all([&](int rank) { group.barrier(rank).wait("test"); });
  EXPECT_EQ(group.endpoints[0].signals, 1001);
}

TEST(Barrier, AFailedWayToThePartnerEndsTheWait) {
  Ranks group(2);
  group.endpoints[0].broken.emplace(ErrorCode::peer_lost, ErrorDetails{.operation = "put"});
  EXPECT_THROW(group.barrier(0).wait("test"), Error);
}

TEST(Barrier, AsksAPartnerThatIsLongAwaitedForASignOfLife) {
  Ranks group(2);
  std::thread late([&] {
    while (group.endpoints[0].probes == 0) std::this_thread::yield();
    group.barrier(1).wait("test");
  });
  group.barrier(0).wait("test");
  late.join();
  EXPECT_GE(group.endpoints[0].probes, 1);
}

}  // namespace
}  // namespace oriel::sync
