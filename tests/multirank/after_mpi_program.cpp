// The program finalises MPI as soon as the Runtime has started, and goes on: teams, windows of all
// kinds, and their ends. Ends with 0 if every rank got what it should.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <oriel/mpi.hpp>
#include <oriel/oriel.hpp>

namespace {

using Word = std::uint64_t;

bool check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "WRONG: %s\n", what);
  return right;
}

bool use(const oriel::Team& team, oriel::Window<Word>& window) {
  const int size = team.size();
  const oriel::Rank right((team.rank() + 1) % size);
  window.fence();
  window.put(static_cast<Word>(int{team.rank()}), right, 0);
  window.fetch_add(1, oriel::Rank(0), 1);
  window.fence();
  const auto left = static_cast<Word>((team.rank() + size - 1) % size);
  return check(window.local()[0] == left, "a put after MPI_Finalize") &&
         check(window.get(oriel::Rank(0), 1) == static_cast<Word>(size), "an add after it");
}

bool run(const oriel::Runtime& job) {
  bool right = true;
  const oriel::Team& world = job.world();
  for (int round = 0; round < 5; ++round) {
    const oriel::Team part = world.split(world.rank() % 2);
    std::vector<Word> own(4);
    auto allocated = oriel::Window<Word>::allocate(part, 4);
    auto created = oriel::Window<Word>::create(world, own);
    right &= use(part, allocated);
    right &= use(world, created);
    created.free();  // the other goes by its destructor
    right &= check(world.allreduce(1, std::plus()) == world.size(), "allreduce");
    world.barrier();
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(100);  // a hang is a failure
  MPI_Init(&argc, &argv);
  bool right = false;
  try {
    const oriel::Runtime job{oriel::Communicator(MPI_COMM_WORLD)};
    MPI_Finalize();
    right = run(job);
  } catch (const oriel::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
