// Who meets whom in teams that have more ranks than slots.

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "unit/sync/exposures.hpp"

namespace oriel::sync {
namespace {

using test::expect_error;
using test::Exposures;

/// A team so large that partners take slots at the first contact. No threads: who posts is waited
/// for in vain by nobody.
class LargeTeam : public testing::Test {
 protected:
  static constexpr int kRanks = 200;

  void one_epoch(int origin, int target) {
    const std::vector<int> origins{origin};
    const std::vector<int> targets{target};
    team.of(target).post(origins);
    EXPECT_FALSE(team.of(target).test());
    team.of(origin).start(targets);
    EXPECT_FALSE(team.of(target).test());
    team.of(origin).complete();
    EXPECT_TRUE(team.of(target).test());
  }

  Exposures team{kRanks};
};

TEST_F(LargeTeam, CostsOneMessagePerDirectionAfterTheFirstContact) {
  one_epoch(7, 180);
  EXPECT_EQ(team.of(7).atomics(), 1U);
  EXPECT_EQ(team.of(180).atomics(), 1U);
  for (int epoch = 0; epoch < 10; ++epoch) one_epoch(7, 180);
  EXPECT_EQ(team.of(7).atomics(), 1U);
  EXPECT_EQ(team.of(180).atomics(), 1U);
  EXPECT_EQ(team.of(7).messages(), 11U);
  EXPECT_EQ(team.of(180).messages(), 11U);
  EXPECT_EQ(team.of(7).partners_met(), 1U);
}

TEST_F(LargeTeam, PartnersOfTheSameFirstSlotAreKeptApart) {
  const int near = 3;
  const int far = 3 + static_cast<int>(kPartnerSlots);
  one_epoch(far, 50);
  one_epoch(near, 50);
  const std::vector<int> origins{near, far};
  const std::vector<int> target{50};
  team.of(50).post(origins);
  team.of(near).start(target);
  team.of(near).complete();
  EXPECT_FALSE(team.of(50).test()) << "the other one has not completed";
  team.of(far).start(target);
  team.of(far).complete();
  EXPECT_TRUE(team.of(50).test());
  one_epoch(50, near);
  one_epoch(50, far);
}

TEST_F(LargeTeam, SlotsEndWithAnErrorThatChangesNothing) {
  const int slots = static_cast<int>(kPartnerSlots);
  for (int origin = 0; origin < slots; ++origin) one_epoch(origin, 199);
  one_epoch(0, 199);
  const std::vector<int> target{199};
  Exposure& late = team.of(slots);
  expect_error(ErrorCode::unsupported, "rank 199 has had 128 origins already",
               [&] { late.start(target); });
  EXPECT_FALSE(late.in_access());
  for (int posted = 0; posted < slots; ++posted) one_epoch(150, posted);
  expect_error(ErrorCode::unsupported, "rank 150 has had 128 targets already", [&] {
    const std::vector<int> origin{150};
    late.post(origin);
  });
  EXPECT_FALSE(late.in_exposure());
  one_epoch(slots - 1, 199);
}

TEST_F(LargeTeam, ManyMeetAtOnce) {
  const int slots = static_cast<int>(kPartnerSlots);
  std::vector<int> origins(kPartnerSlots);
  std::iota(origins.begin(), origins.end(), kRanks - slots);
  const std::vector<int> target{0};
  for (int epoch = 0; epoch < 3; ++epoch) {
    team.of(0).post(origins);
    std::vector<std::thread> threads;
    for (int half = 0; half < 4; ++half) {
      threads.emplace_back([&, half] {
        for (const int origin : origins) {
          if (origin % 4 != half) continue;
          team.of(origin).start(target);
          team.of(origin).complete();
        }
      });
    }
    team.of(0).wait();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(team.of(0).messages(), 3U * kPartnerSlots);
}

}  // namespace
}  // namespace oriel::sync
