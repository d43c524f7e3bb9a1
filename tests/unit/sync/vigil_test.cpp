#include "sync/vigil.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <deque>
#include <thread>

#include "unit/sync/ranks.hpp"

namespace oriel::sync {
namespace {

using test::Ranks;

TEST(Vigil, IsSilentWhileTheTeamIsWhole) {
  Ranks ranks(5);
  ranks.vigils[0].check("wait");
  ranks.vigils[0].watch("wait", &ranks.endpoints[0])();
  EXPECT_EQ(ranks.endpoints[0].probes, 0);
}

TEST(Vigil, ADepartureCountsForTheBarriersThatItLeavesOut) {
  Ranks ranks(2);
  ranks.words[0].gave_up[1] = Departure{.barriers = 3, .culprit = 1, .dead = false}.packed();
  ranks.vigils[0].check("fence", 3);
  EXPECT_THROW(ranks.vigils[0].check("fence", 4), Error);
  EXPECT_THROW(ranks.vigils[0].check("lock"), Error) << "a wait of another kind is never met";
  EXPECT_THROW(ranks.barrier(0).check_left("lock"), Error);
}

TEST(Vigil, ADeathOfAnotherTeamIsNotThisOnes) {
  Ranks ranks(2);
  ranks.health[0].report_dead(7, "its process has ended");
  ranks.vigils[0].check("lock");
  ranks.health[0].report_dead(1, "its process has ended");
  EXPECT_THROW(ranks.vigils[0].check("lock"), Error);
}

TEST(Vigil, AsksAllOthersInTurnWhenNobodyIsNamed) {
  Ranks ranks(3);
  std::deque<test::MemoryEndpoint> ways(3);
  const Vigil vigil(ranks.members, 1, ranks.words[1], ranks.health[1], [&](int other) {
    return Partner{&ways[static_cast<std::size_t>(other)], {}};
  });
  auto watch = vigil.watch("lock");
  while (ways[0].probes == 0) {  // the last one from rank 1 on
    watch();
    std::this_thread::yield();
  }
  EXPECT_EQ(ways[1].probes, 0) << "not itself";
  EXPECT_GE(ways[2].probes, 1);
  ways[2].broken.emplace(ErrorCode::transport_failed, ErrorDetails{.operation = "add"});
  EXPECT_THROW(
      for (;;) {
        watch();
        std::this_thread::yield();
      },
      Error);
}

TEST(Vigil, AFailedWayToTheAwaitedEndsTheWaitAtOnce) {
  Ranks ranks(2);
  ranks.endpoints[0].broken.emplace(ErrorCode::transport_failed, ErrorDetails{.operation = "add"});
  EXPECT_THROW(ranks.vigils[0].watch("lock", &ranks.endpoints[0])(), Error);
}

}  // namespace
}  // namespace oriel::sync
