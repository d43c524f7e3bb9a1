// Teams and their collectives with ranks as threads, on shared memory and on the fake device.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

class TeamOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { fake_verbs::reset(); }
  [[nodiscard]] static Lines environment() { return {GetParam(), "ORIEL_LOG=error"}; }
};
std::string fabric_name(const testing::TestParamInfo<const char*>& param) {
  constexpr const char* kNames[] = {"shm", "verbs", "mixed"};
  return kNames[param.index];
}
INSTANTIATE_TEST_SUITE_P(Fabrics, TeamOn,
                         testing::Values("ORIEL_FABRIC=shm", "ORIEL_FABRIC=verbs",
                                         "ORIEL_FAKE_NODES=2"),
                         fabric_name);

struct Point {
  double x;
  int label;
};

TEST_P(TeamOn, AllgatherGivesValuesAndSpansInTheOrderOfRanks) {
  test::run_ranks(5, environment(), [](Runtime& job) {
    const Team& world = job.world();
    const int me = world.rank();
    EXPECT_THAT(world.allgather(10 * me), ElementsAre(0, 10, 20, 30, 40));
    EXPECT_THAT(world.allgather(me % 2 == 0), ElementsAre(true, false, true, false, true));
    const auto points = world.allgather(Point{0.5 * me, me});
    EXPECT_EQ(points[3].x, 1.5);
    EXPECT_EQ(points[4].label, 4);
    const std::vector<int> mine = {me, -me};
    EXPECT_THAT(world.allgather(std::span(mine)), ElementsAre(0, 0, 1, -1, 2, -2, 3, -3, 4, -4));
    EXPECT_TRUE(world.allgather(std::span<int>()).empty());
    const std::array<char, 3> record = {'a', static_cast<char>('0' + me), 'z'};
    EXPECT_EQ(world.allgather(record)[2], (std::array<char, 3>{'a', '2', 'z'}));
  });
}

TEST_P(TeamOn, BroadcastCopiesTheRootsValues) {
  test::run_ranks(4, environment(), [](Runtime& job) {
    const Team& world = job.world();
    for (int root = 0; root < world.size(); ++root) {
      double value = world.rank() + 0.25;
      world.broadcast(value, Rank{root});
      EXPECT_EQ(value, root + 0.25);
      std::vector<int> many(20'000, world.rank());
      world.broadcast(std::span(many), Rank{root});
      EXPECT_THAT(many, Each(root));
    }
  });
}

// What is being sent out of registered memory is still in use when a put returns.
TEST_P(TeamOn, RegisteredMemoryMayBeReusedOnReturn) {
  test::run_ranks(3, environment(), [](Runtime& job) {
    Buffer<int> values(job, 40'000);
    for (int round = 0; round < 6; ++round) {
      std::ranges::fill(values.span(), job.world().rank() == 1 ? round : -1);
      job.world().broadcast(values.span(), Rank{1});
      EXPECT_EQ(std::ranges::count(values.span(), round), 40'000);
    }
  });
}

TEST_P(TeamOn, AllreduceCombinesInTheOrderOfRanks) {
  test::run_ranks(5, environment(), [](Runtime& job) {
    const Team& world = job.world();
    const int me = world.rank();
    EXPECT_EQ(world.allreduce(me + 1, std::plus()), 15);
    EXPECT_EQ(world.allreduce(me, [](int a, int b) { return std::max(a, b); }), 4);
    EXPECT_FALSE(world.allreduce(me != 3, std::logical_and()));
    EXPECT_EQ(world.allreduce(me + 1, [](int a, int b) { return 10 * a + b; }), 12345);
    const double sum = world.allreduce(1.0 / (me + 3), std::plus());
    EXPECT_THAT(world.allgather(sum), Each(sum)) << "identical to the bit";
    EXPECT_EQ(sum, 1.0 / 3 + 1.0 / 4 + 1.0 / 5 + 1.0 / 6 + 1.0 / 7);
  });
}

TEST_P(TeamOn, PartsWorkByThemselvesAndCanBeSplitAgain) {
  test::run_ranks(6, environment(), [](Runtime& job) {
    const Team& world = job.world();
    const int me = world.rank();
    const Team third = world.split(me % 3, -me);
    EXPECT_THAT(third.allgather(me), ElementsAre(me % 3 + 3, me % 3));
    for (int round = 0; round < 5 * (me % 3); ++round) third.barrier();
    const Team alone = third.split(-1);
    EXPECT_THAT(alone.allgather(me), ElementsAre(me));
    const Team same = third.split(4);
    EXPECT_EQ(same.allreduce(me, std::plus()), third.allreduce(me, std::plus()));
    auto window = Window<int>::allocate(same, 1);
    window.put(me, Rank{1 - same.rank()}, 0);
    window.fence();
    EXPECT_EQ(window.local()[0], 3 + 2 * (me % 3) - me);
    EXPECT_EQ(world.allreduce(1, std::plus()), 6);
  });
}

// Each rank goes on as soon as it has left a team's last call, and the memory of the team is gone.
TEST_P(TeamOn, GoesWithoutAskingTheOthers) {
  test::run_ranks(4, environment(), [](Runtime& job) {
    const Team& world = job.world();
    for (int round = 0; round < 42; ++round) {
      const int root = round % 4;
      int value = world.rank() == root ? round : -1;
      {
        const Team part = world.split(world.rank() < 3 ? 0 : 1, round % 2);
        EXPECT_EQ(part.size(), world.rank() < 3 ? 3 : 1);
        if (round % 3 == 0) part.barrier();
        if (round % 3 == 1) {
          EXPECT_EQ(part.allreduce(1, std::plus()), part.size());
        }
        if (round % 3 == 2) part.broadcast(value, Rank{0});
      }
      if (round % 7 != 0) continue;
      value = world.rank() == root ? round : -1;
      world.broadcast(value, Rank{root});
      EXPECT_EQ(value, round);
    }
  });
  EXPECT_TRUE(fake_verbs::live_objects().empty());
}

TEST_P(TeamOn, RefusesRootsItDoesNotHaveAndStaysUsable) {
  test::run_ranks(2, environment(), [](Runtime& job) {
    int value = 1;
    for (const int wrong : {-1, 2}) {
      try {
        job.world().broadcast(value, Rank{wrong});
        ADD_FAILURE() << "was taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_rank);
        EXPECT_THAT(error.what(), HasSubstr("Team::broadcast"));
      }
    }
    std::array<std::byte, 5> room{};
    const std::array<std::byte, 2> mine{};
    try {
      job.world().allgather_bytes("test", mine, room);
      ADD_FAILURE() << "was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr("room for 5 bytes"));
    }
    EXPECT_EQ(job.world().allreduce(value, std::plus()), 2);
  });
}

template <class Call>
std::error_code code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

TEST_P(TeamOn, MovedFromTeamsAndThoseOfAnEndedRuntimeSaySo) {
  std::array<std::optional<Team>, 2> outliving;
  test::run_ranks(2, environment(), [&](Runtime& job) {
    Team team = job.world();
    const Team moved = std::move(team);
    EXPECT_EQ(code_of([&] { team.barrier(); }),  // NOLINT(bugprone-use-after-move): what is tested
              ErrorCode::window_freed);
    EXPECT_EQ(code_of([&] { (void)team.host(Rank{0}); }), ErrorCode::window_freed);
    const Team part = job.world().split(0);
    outliving[static_cast<std::size_t>(int{part.rank()})] = part;
  });
  EXPECT_TRUE(fake_verbs::live_objects().empty());
  EXPECT_EQ(outliving[1]->size(), 2);
  EXPECT_EQ(code_of([&] { outliving[1]->barrier(); }), ErrorCode::window_freed);
  EXPECT_EQ(code_of([&] { (void)outliving[0]->split(0); }), ErrorCode::window_freed);
  EXPECT_EQ(code_of([&] { (void)outliving[0]->fabric(Rank{1}); }), ErrorCode::window_freed);
}

TEST_P(TeamOn, ARankThatLeavesByAnExceptionStrandsNobodyInAnyTeam) {
  std::atomic<int> told{0};
  const auto body = [&](Runtime& job) {
    const int me = job.world().rank();
    try {
      const Team part = job.world().split(me < 2 ? 0 : 1);
      if (me == 3) throw std::runtime_error("of the program's own");
      for (;;) (me == 2 ? part : job.world()).barrier();
    } catch (const Error& error) {
      // Where its device is gone before it has answered, it is as good as dead.
      EXPECT_THAT(error.code(), AnyOf(ErrorCode::peer_failed, ErrorCode::peer_lost));
      EXPECT_EQ(error.details().target, 3) << error.what();
      ++told;
    }
  };
  EXPECT_THROW(test::run_ranks(4, environment(), body), std::runtime_error);
  EXPECT_EQ(told.load(), 3);
}

// An exception that is caught concerns nobody else.
TEST_P(TeamOn, AnExceptionThatPassesThroughATeamAndIsCaughtBreaksNothing) {
  test::run_ranks(3, environment(), [](Runtime& job) {
    const Team& world = job.world();
    for (int round = 0; round < 3; ++round) {
      try {
        const Team part = world.split(0);
        part.barrier();
        if (part.rank() == round) throw std::runtime_error("of the program's own");
      } catch (const std::runtime_error&) {
      }
      EXPECT_EQ(world.allreduce(1, std::plus()), 3);
      auto window = Window<int>::allocate(world, 1);
      window.fence();
    }
  });
  EXPECT_TRUE(fake_verbs::live_objects().empty());
}

}  // namespace
}  // namespace oriel
