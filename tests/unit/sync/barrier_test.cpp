#include "sync/barrier.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <bit>
#include <ostream>
#include <thread>
#include <vector>

#include "unit/sync/ranks.hpp"

namespace oriel::sync {
namespace {

using test::Ranks;
using testing::HasSubstr;

struct Shape {
  int ranks = 1;
  int per_machine = 0;  ///< see Ranks
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.ranks << " ranks, " << shape.per_machine << " a machine";
  }
};

class BarrierOf : public testing::TestWithParam<Shape> {};

TEST_P(BarrierOf, NobodyLeavesBeforeAllHaveEntered) {
  const int size = GetParam().ranks;
  const int per_machine = GetParam().per_machine;
  constexpr int kBarriers = 300;
  Ranks group(size, per_machine);
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
  const int size = GetParam().ranks;
  const int per_machine = GetParam().per_machine;
  Ranks group(size, per_machine);
  group.on_all([&](int rank) { group.barrier(rank).wait("test"); });
  const auto rounds = [](int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); };
  const bool alike = per_machine != 0 && size % per_machine == 0;
  const auto signals = alike ? rounds(per_machine) + rounds(size / per_machine) : rounds(size);
  for (const Barrier& barrier : group.barriers) {
    EXPECT_EQ(barrier.signals(), signals);
  }
}

TEST_P(BarrierOf, OneWhoGivesUpStrandsNobody) {
  const int size = GetParam().ranks;
  const int per_machine = GetParam().per_machine;
  Ranks group(size, per_machine);
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
  const int size = GetParam().ranks;
  const int per_machine = GetParam().per_machine;
  if (size < 3) GTEST_SKIP() << "needs one dead, one who knows, and one who does not";
  Ranks group(size, per_machine);
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

INSTANTIATE_TEST_SUITE_P(Sizes, BarrierOf,
                         testing::Values(Shape{1}, Shape{2}, Shape{3}, Shape{4}, Shape{5}, Shape{7},
                                         Shape{8}, Shape{13}, Shape{4, 2}, Shape{6, 3}, Shape{9, 3},
                                         Shape{12, 4}, Shape{5, 2}, Shape{5, 1}));

TEST(Meetings, AreWithTheOwnMachineFirst) {
  const std::vector<int> nodes{7, 3, 7, 3, 3, 7};  // 0, 2, 5 and 1, 3, 4
  EXPECT_EQ(meetings(nodes, 2), (std::vector<Meeting>{{5, 0}, {0, 5}, {3, 3}}));
  EXPECT_EQ(meetings(nodes, 4), (std::vector<Meeting>{{1, 3}, {3, 1}, {5, 5}}));
}

TEST(Meetings, AreAmongAllWhereMachinesHaveUnequallyMany) {
  const std::vector<int> nodes{0, 0, 1};
  EXPECT_EQ(meetings(nodes, 2), meetings(3, 2));
  EXPECT_EQ(meetings(3, 2), (std::vector<Meeting>{{0, 1}, {1, 0}}));
}

TEST(Meetings, OfOneMachineOrOfNoTwoRanksTogetherAreTheSame) {
  const std::vector<int> together(9, 4);
  const std::vector<int> alone{0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (int rank = 0; rank < 9; ++rank) {
    EXPECT_EQ(meetings(together, rank), meetings(9, rank));
    EXPECT_EQ(meetings(alone, rank), meetings(9, rank));
  }
}

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
