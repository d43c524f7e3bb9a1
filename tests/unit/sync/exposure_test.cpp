#include "sync/exposure.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "unit/sync/exposures.hpp"

namespace oriel::sync {
namespace {

using test::all_of;
using test::expect_error;
using test::Exposures;
using test::index_of;

TEST(Exposure, DataOfAnEpochIsThereAfterWaitAndNotTouchedBeforePost) {
  constexpr int kRanks = 4;
  constexpr int kEpochs = 100;
  Exposures team(kRanks);
  // cells[target][origin]: plain memory, so that an access outside of its epoch is a data race.
  std::array<std::array<int, kRanks>, kRanks> cells{};
  team.on_all([&](int rank) {
    Exposure& exposure = team.of(rank);
    const std::vector<int> everybody = all_of(kRanks);  // this rank, too
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      exposure.post(everybody);
      exposure.start(everybody);
      for (auto& cell : cells) cell[index_of(rank)] = epoch * (rank + 1);
      exposure.complete();
      exposure.wait();
      for (int origin = 0; origin < kRanks; ++origin) {
        ASSERT_EQ(cells[index_of(rank)][index_of(origin)], epoch * (origin + 1));
      }
    }
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(team.of(rank).messages(), 2U * kRanks * kEpochs) << "one per partner and direction";
    EXPECT_EQ(team.of(rank).atomics(), 0U);
  }
}

TEST(Exposure, GroupsMayChangeWithEveryEpoch) {
  constexpr int kRanks = 6;
  constexpr int kEpochs = 100;
  Exposures team(kRanks);
  std::array<std::array<int, kRanks>, kRanks> cells{};
  // In epoch n rank o accesses t if a bit of n and both says so: the same on both sides.
  const auto accesses = [](int epoch, int origin, int target) {
    return ((epoch * 7 + origin * 3 + target * 5) / 2) % 3 != 0;
  };
  team.on_all([&](int rank) {
    Exposure& exposure = team.of(rank);
    std::array<int, kRanks> expected{};
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      std::vector<int> origins;
      std::vector<int> targets;
      for (int other = 0; other < kRanks; ++other) {
        if (accesses(epoch, other, rank)) origins.push_back(other);
        if (accesses(epoch, rank, other)) targets.push_back(other);
      }
      exposure.post(origins);
      exposure.start(targets);
      for (const int target : targets) ++cells[index_of(target)][index_of(rank)];
      exposure.complete();
      if (epoch % 2 == 0) {
        exposure.wait();
      } else {
        while (!exposure.test()) std::this_thread::yield();
      }
      for (const int origin : origins) ++expected[index_of(origin)];
      for (const int origin : origins) {
        ASSERT_EQ(cells[index_of(rank)][index_of(origin)], expected[index_of(origin)]);
      }
    }
  });
}

// Rank 0 accesses 1 and 2. 1 is done with the first epoch, and posts for the second, while 2 has
// not posted for the first one yet.
TEST(Exposure, APostForTheNextEpochCountsThen) {
  Exposures team(3);
  const std::vector<int> origin{0};
  const std::vector<int> both{1, 2};
  const std::vector<int> first{1};
  team.of(1).post(origin);
  team.of(0).start(first);
  team.of(0).complete();
  team.of(1).wait();
  team.of(1).post(origin);  // the second
  std::atomic<bool> started{false};
  std::thread accessing([&] {
    team.of(0).start(both);
    started = true;
    team.of(0).complete();
    team.of(0).start(first);
    team.of(0).complete();
  });
  for (int turn = 0; turn < 200; ++turn) std::this_thread::yield();
  EXPECT_FALSE(started) << "rank 2 has not posted";
  team.of(2).post(origin);
  team.of(1).wait();
  team.of(2).wait();
  EXPECT_FALSE(team.of(1).in_exposure());
  team.of(1).post(origin);  // the third
  team.of(1).wait();
  accessing.join();
  EXPECT_FALSE(team.of(0).in_access());
}

TEST(Exposure, TwoEarlyPostsAreTwoEpochs) {
  Exposures team(2);
  const std::vector<int> origin{0};
  const std::vector<int> target{1};
  // The words as they are when rank 1 has posted, and rank 0 has not yet come to its start().
  team.of(1).post(origin);
  EXPECT_FALSE(team.of(1).test()) << "nobody has completed";
  team.of(0).start(target);
  EXPECT_FALSE(team.of(1).test());
  team.of(0).complete();
  EXPECT_TRUE(team.of(1).test());
  // The one post is used up.
  std::atomic<bool> started{false};
  std::thread accessing([&] {
    team.of(0).start(target);
    started = true;
    team.of(0).complete();
  });
  for (int turn = 0; turn < 200; ++turn) std::this_thread::yield();
  EXPECT_FALSE(started);
  team.of(1).post(origin);
  team.of(1).wait();
  accessing.join();
}

TEST(Exposure, EmptyGroupsAreEpochs) {
  Exposures team(2);
  team.of(0).post({});
  team.of(0).start({});
  EXPECT_TRUE(team.of(0).in_access());
  team.of(0).complete();
  EXPECT_TRUE(team.of(0).test());
  EXPECT_EQ(team.of(0).messages(), 0U);
}

TEST(Exposure, CallsThatDoNotFitTheEpochThrowAndChangeNothing) {
  Exposures team(2);
  Exposure& exposure = team.of(0);
  const std::vector<int> me{0};
  expect_error(ErrorCode::wrong_epoch, "complete: wrong epoch", [&] { exposure.complete(); });
  expect_error(ErrorCode::wrong_epoch, "wait: wrong epoch", [&] { exposure.wait(); });
  expect_error(ErrorCode::wrong_epoch, "test: wrong epoch",
               [&] { static_cast<void>(exposure.test()); });
  exposure.post(me);
  expect_error(ErrorCode::wrong_epoch, "post: wrong epoch", [&] { exposure.post({}); });
  exposure.start(me);
  expect_error(ErrorCode::wrong_epoch, "one with 1 ranks is open", [&] { exposure.start(me); });
  exposure.complete();
  expect_error(ErrorCode::wrong_epoch, "complete", [&] { exposure.complete(); });
  exposure.wait();
  expect_error(ErrorCode::wrong_epoch, "wait", [&] { exposure.wait(); });
  exposure.post(me);
  exposure.start(me);
  exposure.complete();
  EXPECT_TRUE(exposure.test());
}

TEST(Exposure, GroupsThatDoNotFitThrowAndChangeNothing) {
  Exposures team(3);
  Exposure& exposure = team.of(0);
  for (const auto& group : {std::vector{3}, std::vector{1, -1}}) {
    expect_error(ErrorCode::invalid_rank, "of a team of 3", [&] { exposure.post(group); });
    expect_error(ErrorCode::invalid_rank, "of a team of 3", [&] { exposure.start(group); });
  }
  const std::vector<int> twice{1, 2, 1};
  expect_error(ErrorCode::invalid_argument, "rank 1 is in the group twice",
               [&] { exposure.post(twice); });
  expect_error(ErrorCode::invalid_argument, "rank 1 is in the group twice",
               [&] { exposure.start(twice); });
  EXPECT_FALSE(exposure.in_access() || exposure.in_exposure());
  EXPECT_EQ(exposure.messages(), 0U);
}

TEST(Exposure, ADeathEndsEveryWait) {
  Exposures team(3);
  const std::vector<int> dead{2};
  std::atomic<int> told{0};
  team.on_all([&](int rank) {
    if (rank == 2) return team.health[0].report_dead(2, "its process has ended");
    try {
      if (rank == 0) {
        team.of(0).start(dead);
      } else {
        team.of(1).post(dead);
        while (!team.of(1).test()) std::this_thread::yield();
      }
      ADD_FAILURE() << "rank " << rank << " passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost);
      EXPECT_EQ(error.details().target, 2);
      EXPECT_EQ(error.details().operation, rank == 0 ? "start" : "test");
      ++told;
      team.barrier(rank).give_up(&error);
    }
  });
  EXPECT_EQ(told, 2);
}

TEST(Exposure, ARankThatLeavesByAnErrorEndsEveryWait) {
  Exposures team(3);
  const std::vector<int> gone{2};
  team.on_all([&](int rank) {
    if (rank == 2) return team.barrier(2).give_up();
    expect_error(ErrorCode::peer_failed, "left it by an error", [&] {
      if (rank == 0) team.of(0).start(gone);
      team.of(1).post(gone);
      team.of(1).wait();
    });
  });
}

}  // namespace
}  // namespace oriel::sync
