/// Put and fence: every rank writes a row into its right neighbour's window.
///
///     mpirun -n 4 ./01_put_fence

#include <algorithm>
#include <array>
#include <cstdio>
#include <oriel/oriel.hpp>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const int me = world.rank();
  const oriel::Rank right{(me + 1) % world.size()};
  const int left = (me + world.size() - 1) % world.size();

  std::array<double, 1000> row;
  row.fill(me + 0.5);

  auto window = oriel::Window<double>::allocate(world, row.size());
  window.put(row, right, 0);  // only starts: `row` must stay as it is until the fence
  window.fence();             // now all puts of all ranks have arrived

  // What `left` has put is ordinary memory here.
  const auto mine = window.local();
  const bool right_values = std::ranges::all_of(mine, [&](double v) { return v == left + 0.5; });
  std::printf("rank %d: got %zu values of %.1f from rank %d: %s\n", me, mine.size(), mine[0], left,
              right_values ? "right" : "WRONG");
  return right_values ? 0 : 1;
}
