// Between creation and free of a window no MPI function is called, by nobody in the process.

#include <cstdint>
#include <vector>

#include "helpers.hpp"
#include "support/count_mpi_calls/count_mpi_calls.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class NoMpiCalls : public BothKinds {};

TEST(MpiCallCounter, CountsCallsOfTheTest) {
  const auto before = mpi_calls();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(mpi_calls(), before + 1);
  EXPECT_STREQ(last_mpi_call(), "MPI_Barrier");
}

TEST(MpiCallCounter, CountsCallsOfTheLibrary) {
  const auto before = mpi_calls();
  world().barrier();
  EXPECT_EQ(mpi_calls(), before + 1);
  EXPECT_STREQ(last_mpi_call(), "MPI_Barrier");
  {
    auto window = Window<Word>::allocate(world(), 1);
    EXPECT_GT(mpi_calls(), before + 1);
  }
}

void use(Window<Word>& window) {
  const Rank right((me() + 1) % ranks());
  std::vector<Word> values(20'000, 3);
  Word result = 0;
  for (int round = 0; round < scaled(50); ++round) {
    for (int target = 0; target < ranks(); ++target) {
      window.put(values, Rank(target), 8);
      window.put(Word{1}, Rank(target), 0);
      window.flush_local(Rank(target));
      window.fetch_add(1, Rank(target), 1);
      window.fetch_add(1, result, Rank(target), 1);
      window.compare_and_swap(0, 1, Rank(target), 2);
      window.compare_and_swap(0, 1, result, Rank(target), 2);
      window.flush(Rank(target));
      (void)window.get(Rank(target), 0);
    }
    window.get(values, right, 8);
    window.flush_local_all();
    window.flush_all();
    window.fence();
  }
  (void)window.local();
  (void)window.size(right);
  (void)window.describe();
}

TEST_P(NoMpiCalls, WhileAWindowIsUsed) {
  Exposed<Word> words(world(), GetParam(), 20'008);
  const auto before = mpi_calls();
  use(words.window);
  EXPECT_EQ(mpi_calls(), before) << "the last one: " << last_mpi_call();
}

TEST_P(NoMpiCalls, WhileAWindowOfPartOfTheTeamIsUsed) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  const Team most = world().split(me() == ranks() - 1 ? 1 : 0);
  Exposed<Word> words(most, GetParam(), 8);
  const Rank next((most.rank() + 1) % most.size());
  const auto before = mpi_calls();
  for (int round = 0; round < scaled(100); ++round) {
    words.window.fetch_add(1, next, 0);
    words.window.fence();
  }
  EXPECT_EQ(mpi_calls(), before) << "the last one: " << last_mpi_call();
}

TEST_P(NoMpiCalls, WhenAWindowIsFreed) {
  Exposed<Word> words(world(), GetParam(), 8);
  const auto before = mpi_calls();
  words.window.free();
  EXPECT_EQ(mpi_calls(), before) << "the last one: " << last_mpi_call();
}

INSTANTIATE_TEST_SUITE_P(Both, NoMpiCalls, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
