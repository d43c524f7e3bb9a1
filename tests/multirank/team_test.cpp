// A team's own collectives, among processes.

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

TEST(Collectives, AgreeWithMpi) {
  for (int round = 0; round < scaled(20); ++round) {
    const int mine = me() * 1000 + round;
    EXPECT_EQ(world().allgather(mine), gather(mine));
    int value = mine;
    world().broadcast(value, Rank(round % ranks()));
    EXPECT_EQ(value, round % ranks() * 1000 + round);
    EXPECT_EQ(world().allreduce(long{mine}, std::plus()), mpi_sum(mine));
  }
}

TEST(Collectives, FloatingPointResultsAreIdenticalToTheBit) {
  const double sum = world().allreduce(1.0 / (me() + 3), std::plus());
  for (const double theirs : gather(sum)) EXPECT_EQ(theirs, sum);
}

TEST(Collectives, LargeRecordsTravelWhole) {
  const std::size_t bytes = fabric() == "shm" ? 1'000'017 : 100'003;
  std::vector<std::byte> mine(bytes);
  fill(mine, static_cast<std::uint64_t>(me()));
  const auto all = world().allgather(std::span<const std::byte>(mine));
  for (int rank = 0; rank < ranks(); ++rank) {
    const auto theirs = std::span(all).subspan(static_cast<std::size_t>(rank) * bytes, bytes);
    EXPECT_EQ(mismatch(theirs, static_cast<std::uint64_t>(rank)), bytes);
  }
  for (int root = 0; root < ranks(); ++root) {
    fill(mine, static_cast<std::uint64_t>(me() == root ? 100 + root : 7));
    world().broadcast(std::span(mine), Rank(root));
    EXPECT_EQ(mismatch(mine, static_cast<std::uint64_t>(100 + root)), bytes);
  }
}

// Registered memory is sent without a copy, and must not be let go of too early.
TEST(Collectives, PartOfAWindowIsAsGoodAsAnyMemory) {
  auto window = Window<int>::allocate(world(), 50'000);
  for (int round = 0; round < scaled(20); ++round) {
    const int root = round % ranks();
    std::ranges::fill(window.local(), me() == root ? round : -1);
    world().broadcast(window.local(), Rank(root));
    EXPECT_EQ(std::ranges::count(window.local(), round), 50'000);
  }
  window.fence();
}

TEST(Collectives, PartsAndTheWholeDoNotMixUp) {
  for (int round = 0; round < scaled(20); ++round) {
    const Team half = world().split(me() % 2, -me());
    std::vector<int> expected;
    for (int rank = ranks() - 1; rank >= 0; --rank) {
      if (rank % 2 == me() % 2) expected.push_back(rank);
    }
    EXPECT_EQ(half.allgather(me()), expected);
    EXPECT_EQ(world().allreduce(me(), std::plus()), ranks() * (ranks() - 1) / 2);
    EXPECT_EQ(half.split(-1).allgather(me()), std::vector{me()});
  }
}

TEST(Collectives, RefuseARootOutsideTheTeam) {
  int value = 0;
  EXPECT_EQ(thrown_code([&] { world().broadcast(value, Rank(ranks())); }), ErrorCode::invalid_rank);
  EXPECT_EQ(world().allreduce(1, std::plus()), ranks());
}

}  // namespace
}  // namespace oriel::test
