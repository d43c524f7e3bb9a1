#include "sync/barrier.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <bit>
#include <deque>
#include <numeric>
#include <thread>

#include "support/memory_endpoint.hpp"

namespace oriel::sync {
namespace {

using test::MemoryEndpoint;
using testing::HasSubstr;

/// The ranks of a group as threads; words and endpoints are plain memory.
class Group {
 public:
  explicit Group(int size) : words(static_cast<std::size_t>(size)), members(words.size()) {
    std::iota(members.begin(), members.end(), 0);
    for (int rank = 0; rank < size; ++rank) {
      endpoints.emplace_back();
      health.emplace_back();
      progress.emplace_back(std::vector<transport::Transport*>{}, nullptr, true);
      health.back().set_hosts(std::vector<std::string>(members.size(), "nodeX"));
    }
    for (int rank = 0; rank < size; ++rank) {
      std::vector<Round> rounds;
      const auto partner = [&](int other) {
        const auto index = static_cast<std::size_t>(other % size);
        return Partner{&endpoints[static_cast<std::size_t>(rank)],
                       {reinterpret_cast<std::uint64_t>(&words[index]), 0}};
      };
      for (const int distance : round_distances(size)) {
        rounds.push_back({partner(rank + distance), partner(rank + size - distance)});
      }
      const auto index = static_cast<std::size_t>(rank);
      barriers.emplace_back(members, rank, std::move(rounds), words[index], progress[index],
                            health[index]);
    }
  }

  template <class Body>
  void on_all(Body body) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < barriers.size(); ++rank) {
      threads.emplace_back([&, rank] { body(static_cast<int>(rank), barriers[rank]); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<ControlWords> words;
  std::vector<int> members;
  std::deque<MemoryEndpoint> endpoints;  // one per rank: its way to everybody
  std::deque<transport::PeerHealth> health;
  std::deque<transport::Progress> progress;
  std::deque<Barrier> barriers;
};

class BarrierOf : public testing::TestWithParam<int> {};

TEST_P(BarrierOf, NobodyLeavesBeforeAllHaveEntered) {
  const int size = GetParam();
  constexpr int kBarriers = 300;
  Group group(size);
  std::atomic<int> entered{0};
  std::atomic<int> too_early{0};
  group.on_all([&](int rank, Barrier& barrier) {
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
  Group group(size);
  group.on_all([](int, Barrier& barrier) { barrier.wait("test"); });
  for (const Barrier& barrier : group.barriers) {
    EXPECT_EQ(barrier.signals(), std::bit_width(static_cast<unsigned>(size - 1)));
  }
}

TEST_P(BarrierOf, OneWhoGivesUpStrandsNobody) {
  const int size = GetParam();
  Group group(size);
  std::atomic<int> told{0};
  group.on_all([&](int rank, Barrier& barrier) {
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
  Group group(size);
  std::atomic<int> told{0};
  group.on_all([&](int rank, Barrier& barrier) {
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
  Group group(2);
  group.endpoints[0].refusals = 1000;
  group.on_all([](int, Barrier& barrier) { barrier.wait("test"); });
  EXPECT_EQ(group.endpoints[0].signals, 1001);
}

TEST(Barrier, AFailedWayToThePartnerEndsTheWait) {
  Group group(2);
  group.endpoints[0].broken.emplace(ErrorCode::peer_lost, ErrorDetails{.operation = "put"});
  EXPECT_THROW(group.barriers[0].wait("test"), Error);
}

TEST(Barrier, AsksAPartnerThatIsLongAwaitedForASignOfLife) {
  Group group(2);
  std::thread late([&] {
    while (group.endpoints[0].probes == 0) std::this_thread::yield();
    group.barriers[1].wait("test");
  });
  group.barriers[0].wait("test");
  late.join();
  EXPECT_GE(group.endpoints[0].probes, 1);
}

}  // namespace
}  // namespace oriel::sync
