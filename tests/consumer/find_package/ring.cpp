// Every rank puts a number into its right neighbour's window.
#include <cstdio>
#include <oriel/oriel.hpp>

static_assert(ORIEL_VERSION_MAJOR == 0);

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team world = job.world();
  const int size = world.size();
  auto window = oriel::Window<long>::allocate(world, 1);
  window.put(100L + world.rank(), oriel::Rank{(world.rank() + 1) % size}, 0);
  window.fence();
  const long expected = 100 + (world.rank() + size - 1) % size;
  std::printf("rank %d of %d has %ld\n", int{world.rank()}, size, window.local()[0]);
  return window.local()[0] == expected ? 0 : 1;
}
