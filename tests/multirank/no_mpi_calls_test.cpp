// Once the Runtime has started no MPI function is called, by nobody in the process.

#include <cstdint>
#include <functional>
#include <vector>

#include <oriel/mpi.hpp>

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
  {
    const Runtime another{Communicator(MPI_COMM_WORLD)};  // the one thing that calls MPI
    EXPECT_GT(mpi_calls(), before);
  }
}

/// Runs `body` and expects no call of MPI in it.
template <class Body>
void expect_no_mpi(Body&& body) {
  mpi_barrier();
  const auto before = mpi_calls();
  body();
  EXPECT_EQ(mpi_calls(), before) << "the last one: " << last_mpi_call();
}

TEST(NoMpi, InCollectivesOfTeams) {
  expect_no_mpi([] {
    for (int round = 0; round < scaled(20); ++round) {
      world().barrier();
      EXPECT_EQ(world().allgather(me()).size(), static_cast<std::size_t>(ranks()));
      int value = me();
      world().broadcast(value, Rank(ranks() - 1));
      EXPECT_EQ(value, ranks() - 1);
      EXPECT_EQ(world().allreduce(1, std::plus()), ranks());
      job().node().barrier();
    }
  });
}

TEST(NoMpi, WhenTeamsAreMadeAndGo) {
  expect_no_mpi([] {
    for (int round = 0; round < scaled(20); ++round) {
      const Team half = world().split(me() % 2, -me());
      const Team alone = half.split(-1);
      const Team again = half;
      again.barrier();
      alone.barrier();
    }
  });
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

TEST_P(NoMpiCalls, WhileAWindowIsMadeAndUsedAndFreed) {
  expect_no_mpi([] {
    Exposed<Word> words(world(), GetParam(), 20'008);
    use(words.window);
    words.window.free();
  });
}

TEST_P(NoMpiCalls, WhileAWindowOfPartOfTheTeamIsUsed) {
  expect_no_mpi([] {
    const Team most = world().split(me() == ranks() - 1 ? 1 : 0);
    Exposed<Word> words(most, GetParam(), 8);
    const Rank next((most.rank() + 1) % most.size());
    for (int round = 0; round < scaled(100); ++round) {
      words.window.fetch_add(1, next, 0);
      words.window.fence();
    }
  });
}

TEST_P(NoMpiCalls, WhenWindowsAreLeftToTheirDestructors) {
  expect_no_mpi([] {
    for (int round = 0; round < scaled(20); ++round) Exposed<Word>(world(), GetParam(), 8);
  });
}

TEST_P(NoMpiCalls, WhenAWindowCannotBeMade) {
  expect_no_mpi([] {
    const std::size_t bad = ~std::size_t{0} / 2;
    EXPECT_EQ(thrown_code([&] { (void)Window<char>::allocate(world(), me() == 0 ? bad : 1); }),
              me() == 0 ? ErrorCode::out_of_memory : ErrorCode::peer_failed);
    Exposed<Word> next(world(), GetParam(), 8);
    next.window.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Both, NoMpiCalls, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
