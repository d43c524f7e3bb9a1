#include "sync/collectives.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "support/memory_endpoint.hpp"

namespace oriel::sync {
namespace {

using test::MemoryEndpoint;
using Bytes = std::vector<std::byte>;

/// The ranks of a team as threads; areas and endpoints are plain memory.
class Team {
 public:
  explicit Team(int size) : members(static_cast<std::size_t>(size)) {
    std::iota(members.begin(), members.end(), 0);
    for (int rank = 0; rank < size; ++rank) {
      areas.emplace_back(Collectives::area_bytes(size) / sizeof(std::uint64_t));
      endpoints.emplace_back();
      health.emplace_back();
      progress.emplace_back(std::vector<transport::Lane*>{}, nullptr, true);
      health.back().set_hosts(std::vector<std::string>(members.size(), "nodeX"));
    }
    for (int rank = 0; rank < size; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      auto rounds = make_rounds(meetings(size, rank), [&](int other) {
        return Partner{
            &endpoints[index],
            {reinterpret_cast<std::uint64_t>(areas[static_cast<std::size_t>(other)].data()), 0}};
      });
      collectives.emplace_back(members, rank, std::move(rounds), area(index).data(),
                               progress[index], health[index]);
    }
  }

  [[nodiscard]] std::span<std::byte> area(std::size_t rank) {
    return std::as_writable_bytes(std::span(areas[rank]));
  }

  /// body(rank, collectives) on a thread per rank.
  template <class Body>
  void on_all(Body body) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < collectives.size(); ++rank) {
      threads.emplace_back([&, rank] { body(static_cast<int>(rank), collectives[rank]); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<int> members;
  std::deque<std::vector<std::uint64_t>> areas;
  std::deque<MemoryEndpoint> endpoints;  // one per rank: its way to everybody
  std::deque<transport::PeerHealth> health;
  std::deque<transport::Progress> progress;
  std::deque<Collectives> collectives;
};

/// What rank `rank` sends in call `call`.
Bytes block(int rank, int call, std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(static_cast<std::size_t>(rank * 31 + call * 7) + i + i / 251);
  return made;
}

/// Whether an allgather of block()s gives what it should.
bool gathers(Collectives& team, int size, int rank, int call, std::size_t bytes) {
  Bytes all(bytes * static_cast<std::size_t>(size));
  team.allgather("allgather", block(rank, call, bytes), all);
  Bytes expected;
  for (int other = 0; other < size; ++other) {
    const Bytes theirs = block(other, call, bytes);
    expected.insert(expected.end(), theirs.begin(), theirs.end());
  }
  return all == expected;
}

bool broadcasts(Collectives& team, int root, int rank, int call, std::size_t bytes) {
  Bytes data = rank == root ? block(root, call, bytes) : Bytes(bytes);
  team.broadcast("broadcast", data, root);
  return data == block(root, call, bytes);
}

constexpr std::size_t kPiece = Collectives::kPieceBytes;
constexpr std::size_t kSizes[] = {1, 8, 100, kPiece, kPiece + 1, 100'000};

class CollectivesOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, CollectivesOf, testing::Values(1, 2, 3, 4, 5, 7, 8, 13));

TEST_P(CollectivesOf, AllgatherGivesEverybodysRecordsInTheOrderOfRanks) {
  const int size = GetParam();
  Team team(size);
  team.on_all([&](int rank, Collectives& mine) {
    int call = 0;
    for (const std::size_t bytes : kSizes) {
      EXPECT_TRUE(gathers(mine, size, rank, ++call, bytes)) << bytes << " bytes, rank " << rank;
      EXPECT_TRUE(gathers(mine, size, rank, ++call, bytes)) << bytes << " bytes, rank " << rank;
    }
  });
}

TEST_P(CollectivesOf, AllgatherTakesItsOwnPartInPlaceAndNothingAtAll) {
  const int size = GetParam();
  Team team(size);
  team.on_all([&](int rank, Collectives& mine) {
    std::vector<int> all(static_cast<std::size_t>(size), -1);
    all[static_cast<std::size_t>(rank)] = rank;
    const auto bytes = std::as_writable_bytes(std::span(all));
    mine.allgather("allgather", bytes.subspan(static_cast<std::size_t>(rank) * sizeof(int), 4),
                   bytes);
    EXPECT_TRUE(std::ranges::equal(all, team.members));
    mine.allgather("allgather", {}, {});
    mine.broadcast("broadcast", {}, 0);
  });
}

TEST_P(CollectivesOf, BroadcastReachesAllFromEveryRoot) {
  const int size = GetParam();
  Team team(size);
  team.on_all([&](int rank, Collectives& mine) {
    int call = 0;
    for (const std::size_t bytes : kSizes) {
      for (int root = 0; root < size; ++root)
        EXPECT_TRUE(broadcasts(mine, root, rank, ++call, bytes)) << bytes << " from " << root;
    }
  });
}

// Some call early and some late, and what follows on what differs.
TEST_P(CollectivesOf, CallsOfAllKindsMayFollowOneAnother) {
  const int size = GetParam();
  Team team(size);
  std::atomic<int> wrong{0};
  std::atomic<int> arrived{0};
  team.on_all([&](int rank, Collectives& mine) {
    std::mt19937 alike(5);
    std::mt19937 own(static_cast<unsigned>(rank));
    int barriers = 0;
    for (int call = 0; call < 100; ++call) {
      const std::size_t bytes = std::size_t{1} << (alike() % 15);
      const int root = static_cast<int>(alike() % static_cast<unsigned>(size));
      for (unsigned pause = own() % 4; pause > 0; --pause) std::this_thread::yield();
      switch (alike() % 3) {
        case 0:
          ++arrived;
          mine.barrier("barrier");
          if (arrived.load() < ++barriers * size) ++wrong;
          break;
        case 1:
          if (!gathers(mine, size, rank, call, bytes)) ++wrong;
          break;
        default:
          if (!broadcasts(mine, root, rank, call, bytes)) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

// Each rank reuses its area as soon as it has left its last call: nobody writes there any more.
TEST_P(CollectivesOf, NothingIsUnderWayAfterTheLastCall) {
  const int size = GetParam();
  for (int last = 0; last < 3; ++last) {
    Team team(size);
    team.on_all([&](int rank, Collectives& mine) {
      EXPECT_TRUE(gathers(mine, size, rank, 1, 40'000));
      if (last == 0) mine.barrier("barrier");
      if (last == 1) {
        EXPECT_TRUE(broadcasts(mine, size / 2, rank, 2, 40'000));
      }
      std::ranges::fill(team.area(static_cast<std::size_t>(rank)), std::byte{0xee});
    });
    for (const auto& area : team.areas)
      EXPECT_THAT(area, testing::Each(0xeeee'eeee'eeee'eeeeU)) << "kind " << last;
  }
}

TEST_P(CollectivesOf, AllgatherCostsOnePiecePerRoundAndTwoSignals) {
  const int size = GetParam();
  Team team(size);
  team.on_all([&](int rank, Collectives& mine) { EXPECT_TRUE(gathers(mine, size, rank, 0, 8)); });
  const auto rounds = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(size - 1)));
  for (std::size_t rank = 0; rank < team.collectives.size(); ++rank) {
    // Blocks that go round the end of the result are two pieces.
    EXPECT_GE(team.collectives[rank].pieces(), rounds);
    EXPECT_LE(team.collectives[rank].pieces(), 2 * rounds);
  }
}

TEST_P(CollectivesOf, BroadcastSendsTheBytesOnceToEachRank) {
  const int size = GetParam();
  Team team(size);
  team.on_all([&](int rank, Collectives& mine) {
    EXPECT_TRUE(broadcasts(mine, size - 1, rank, 0, 3 * kPiece));
  });
  std::uint64_t pieces = 0;
  for (const Collectives& one : team.collectives) pieces += one.pieces();
  EXPECT_EQ(pieces, 3 * static_cast<std::uint64_t>(size - 1));
}

/// Calls until an error comes, of which there is one for each rank but those that take no part.
template <class Call>
void expect_error(ErrorCode code, int target, std::atomic<int>& told, Call call) {
  try {
    for (;;) call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.details().target, target) << error.what();
    ++told;
  }
}

TEST_P(CollectivesOf, OneWhoGivesUpStrandsNobody) {
  const int size = GetParam();
  for (const bool gather : {true, false}) {
    Team team(size);
    std::atomic<int> told{0};
    team.on_all([&](int rank, Collectives& mine) {
      EXPECT_TRUE(gathers(mine, size, rank, 0, 5000));
      if (rank == size - 1) return mine.give_up();
      expect_error(ErrorCode::peer_failed, size - 1, told, [&] {
        if (gather) (void)gathers(mine, size, rank, 1, 100'000);
        if (!gather) (void)broadcasts(mine, 0, rank, 1, 100'000);
      });
      EXPECT_TRUE(mine.given_up());
      EXPECT_THROW(mine.barrier("barrier"), Error) << "from then on always";
    });
    EXPECT_EQ(told.load(), size - 1);
  }
}

// What a rank has completed before it leaves is good for everybody, however late they come.
TEST_P(CollectivesOf, ADepartureDoesNotSpoilWhatWasCompletedBefore) {
  const int size = GetParam();
  constexpr int kCalls = 20;
  Team team(size);
  std::atomic<int> told{0};
  std::atomic<int> spoilt{0};
  team.on_all([&](int rank, Collectives& mine) {
    int good = 0;
    const auto call = [&](int number) {
      const int root = number % size;
      if (number % 2 == 0 ? gathers(mine, size, rank, number, 300)
                          : broadcasts(mine, root, rank, number, 300))
        ++good;
    };
    if (rank == 0) {
      for (int number = 0; number < kCalls; ++number) call(number);
      return mine.give_up();
    }
    int number = 0;
    expect_error(ErrorCode::peer_failed, 0, told, [&] {
      for (int pause = rank; pause > 0; --pause) std::this_thread::yield();
      call(number++);
    });
    if (good < kCalls) ++spoilt;
  });
  EXPECT_EQ(told.load(), size - 1);
  EXPECT_EQ(spoilt.load(), 0);
}

TEST_P(CollectivesOf, ADeathThatOneRankLearnsOfEndsTheWaitOfAll) {
  const int size = GetParam();
  if (size < 3) GTEST_SKIP() << "needs one dead, one who knows, and one who does not";
  for (const bool gather : {true, false}) {
    Team team(size);
    std::atomic<int> told{0};
    team.on_all([&](int rank, Collectives& mine) {
      if (rank == 0) return;  // dead: takes no part
      if (rank == 1) team.health[1].report_dead(0, "its process has ended");
      expect_error(ErrorCode::peer_lost, 0, told, [&] {
        if (gather) (void)gathers(mine, size, rank, 1, 100'000);
        if (!gather) (void)broadcasts(mine, size - 1, rank, 1, 100'000);
      });
    });
    EXPECT_EQ(told.load(), size - 1);
  }
}

TEST(Collectives, WaitForRoomToPutAndToSignal) {
  constexpr int kSize = 3;
  Team team(kSize);
  for (MemoryEndpoint& endpoint : team.endpoints) {
    endpoint.refusals = 100;
    endpoint.largest_put = 1000;
  }
  team.on_all([](int rank, Collectives& mine) {
    EXPECT_TRUE(gathers(mine, kSize, rank, 0, 20'000));
    EXPECT_TRUE(broadcasts(mine, 1, rank, 1, 20'000));
  });
}

TEST(Collectives, AFailedWayToAPartnerEndsTheCall) {
  Team team(2);
  team.endpoints[0].broken.emplace(ErrorCode::transport_failed, ErrorDetails{.operation = "put"});
  EXPECT_THROW((void)gathers(team.collectives[0], 2, 0, 0, 8), Error);
}

TEST(Collectives, RecordsOfMegabytesPassThroughTheSameBoxes) {
  constexpr int kSize = 3;
  Team team(kSize);
  team.on_all([](int rank, Collectives& mine) {
    EXPECT_TRUE(gathers(mine, kSize, rank, 0, 1'000'003));
    EXPECT_TRUE(broadcasts(mine, 2, rank, 1, 2'000'001));
  });
}

}  // namespace
}  // namespace oriel::sync
