// The runtime and its teams: who is who, on which machine, reached by which path.

#include <unistd.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include <oriel/version.hpp>

#include "helpers.hpp"

namespace oriel::test {
namespace {

TEST(Runtime, WorldIsTheCommunicatorItWasStartedOn) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(world().rank(), rank);
  EXPECT_EQ(world().size(), size);
  for (int member = 0; member < size; ++member) {
    EXPECT_EQ(world().world_rank(Rank(member)), member);
  }
}

TEST(Runtime, NodeTeamHasTheRanksOfThisMachineInTheirOrder) {
  std::vector<int> expected;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (shares_machine(rank)) expected.push_back(rank);
  }
  const Team& node = job().node();
  std::vector<int> members;
  for (int member = 0; member < node.size(); ++member) {
    members.push_back(node.world_rank(Rank(member)));
  }
  EXPECT_EQ(members, expected);
  EXPECT_EQ(node.world_rank(node.rank()), me());
}

TEST(Runtime, HostsAreTheMachinesOwnNames) {
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  const auto names = gather(name);
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(world().host(Rank(rank)), names[static_cast<std::size_t>(rank)].data());
  }
}

TEST(Runtime, FabricToEachRankIsTheOneAskedFor) {
  for (int rank = 0; rank < ranks(); ++rank) {
    const bool near = fabric() != "verbs" && shares_machine(rank);
    EXPECT_EQ(world().fabric(Rank(rank)), near ? "shm" : "verbs") << "to rank " << rank;
  }
}

TEST(Runtime, DescribeTellsHostRankPlacementAndPaths) {
  const std::string text = job().describe();
  const auto has = [&](const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << "'" << what << "' is not in:\n" << text;
  };
  has(ORIEL_VERSION_STRING);
  has("rank " + std::to_string(me()) + " of " + std::to_string(ranks()));
  has(world().host(world().rank()));
  has("placement");
  for (int rank = 0; rank < ranks(); ++rank) {
    has(world().fabric(Rank(rank)) == "verbs" ? "verbs" : "shared memory");
  }
  if (fabric() != "shm") has("port");
  if (fabric() == "shm") {  // B120: no word about devices that nobody wants
    EXPECT_EQ(text.find("ibv"), std::string::npos) << text;
  }
}

TEST(Team, RefusesRanksItDoesNotHave) {
  for (const int wrong : {-1, ranks(), 1'000'000, -2'000'000'000}) {
    std::string what;
    EXPECT_EQ(thrown_code([&] { (void)world().world_rank(Rank(wrong)); }, &what),
              ErrorCode::invalid_rank);
    EXPECT_NE(what.find(std::to_string(wrong)), std::string::npos) << what;
    EXPECT_EQ(thrown_code([&] { (void)world().host(Rank(wrong)); }), ErrorCode::invalid_rank);
    EXPECT_EQ(thrown_code([&] { (void)world().fabric(Rank(wrong)); }), ErrorCode::invalid_rank);
  }
  const Team alone = world().split(-1);
  EXPECT_EQ(thrown_code([&] { (void)alone.world_rank(Rank(1)); }), ErrorCode::invalid_rank);
}

TEST(Team, CopiesMeanTheSameTeam) {
  const Team copy = world();
  EXPECT_EQ(copy.rank(), world().rank());
  EXPECT_EQ(copy.state(), world().state());
}

TEST(TeamSplit, EqualColorsFormATeamInTheOrderOfRanks) {
  const Team half = world().split(me() % 2);
  std::vector<int> expected;
  for (int rank = me() % 2; rank < ranks(); rank += 2) expected.push_back(rank);
  ASSERT_EQ(half.size(), static_cast<int>(expected.size()));
  for (int member = 0; member < half.size(); ++member) {
    EXPECT_EQ(half.world_rank(Rank(member)), expected[static_cast<std::size_t>(member)]);
    EXPECT_EQ(half.host(Rank(member)), world().host(half.world_rank(Rank(member))));
    EXPECT_EQ(half.fabric(Rank(member)), world().fabric(half.world_rank(Rank(member))));
  }
  EXPECT_EQ(half.world_rank(half.rank()), me());
}

TEST(TeamSplit, KeysReverseTheOrder) {
  const Team reversed = world().split(0, -me());
  EXPECT_EQ(reversed.size(), ranks());
  EXPECT_EQ(reversed.rank(), ranks() - 1 - me());
  for (int member = 0; member < ranks(); ++member) {
    EXPECT_EQ(reversed.world_rank(Rank(member)), ranks() - 1 - member);
  }
}

TEST(TeamSplit, EqualKeysKeepTheOrder) {
  const Team same = world().split(7, 42);
  EXPECT_EQ(same.rank(), me());
}

TEST(TeamSplit, ColorsMayBeFarApart) {
  const Team alone = world().split(me() == 0 ? 0 : 2'000'000'000 + me());
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.world_rank(Rank(0)), me());
}

TEST(TeamSplit, NegativeColorMeansAlone) {
  const Team alone = world().split(-3);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_EQ(alone.world_rank(Rank(0)), me());
  const Team some = world().split(me() == 0 ? -1 : 5);  // only one of them negative
  EXPECT_EQ(some.size(), me() == 0 ? 1 : ranks() - 1);
}

TEST(TeamSplit, PartsCanBeSplitAgain) {
  const Team reversed = world().split(1, -me());
  const Team pair = reversed.split(reversed.rank() / 2, -reversed.rank());
  const int first = reversed.rank() / 2 * 2;
  EXPECT_EQ(pair.size(), std::min(2, ranks() - first));
  EXPECT_EQ(pair.world_rank(pair.rank()), me());
  if (pair.size() == 2) {  // twice reversed
    EXPECT_LT(pair.world_rank(Rank(0)), pair.world_rank(Rank(1)));
  }
}

TEST(Team, BarrierHoldsBackWhoComesFirst) {
  auto counter = Window<std::uint64_t>::allocate(world(), 1);
  for (int round = 1; round <= scaled(30); ++round) {
    counter.fetch_add(1, Rank(0), 0);
    world().barrier();
    EXPECT_GE(counter.get(Rank(0), 0), static_cast<std::uint64_t>(round * ranks()));
    world().barrier();
  }
}

TEST(Team, BarriersOfPartsAreIndependent) {
  const Team half = world().split(me() % 2);
  const int mine = half.rank() >= 0 && me() % 2 == 0 ? 3 : 20;
  for (int round = 0; round < mine; ++round) half.barrier();
  world().barrier();
}

}  // namespace
}  // namespace oriel::test
