/// Post, start, complete, wait: ranks that synchronise with their neighbours, and with nobody else.
///
///     mpirun -n 4 ./05_pscw_halo

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <oriel/oriel.hpp>
#include <vector>

namespace {

constexpr std::size_t kCells = 8;  // of each rank, and a ghost cell at either end
constexpr int kSteps = 50;

/// Each inner cell becomes the mean of itself and its neighbours.
void smooth(const std::vector<double>& from, double* to) {
  for (std::size_t i = 1; i + 1 < from.size(); ++i) {
    to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const int me = world.rank();

  auto window = oriel::Window<double>::allocate(world, kCells + 2);
  const auto cells = window.local();
  cells[1] = me + 1;

  // A rod, not a ring: the ranks at its ends have one neighbour, and a ghost cell that stays zero.
  std::vector<oriel::Rank> neighbours;
  if (me > 0) neighbours.emplace_back(me - 1);
  if (me + 1 < world.size()) neighbours.emplace_back(me + 1);

  for (int step = 0; step < kSteps; ++step) {
    window.post(neighbours);   // they may write to my ghost cells: I have read them
    window.start(neighbours);  // I may write to theirs: waits for their post()
    for (const oriel::Rank to : neighbours) {
      if (to < me) window.put(cells[1], to, kCells + 1);
      if (to > me) window.put(cells[kCells], to, 0);
    }
    window.complete();  // behind my puts, it tells them that I have done
    window.wait();      // they all have: the ghost cells are new
    const std::vector<double> before(cells.begin(), cells.end());
    smooth(before, cells.data());
  }

  // The whole rod by one rank alone gives the same bits.
  std::vector<double> rod(static_cast<std::size_t>(world.size()) * kCells + 2);
  for (int rank = 0; rank < world.size(); ++rank) {
    rod[static_cast<std::size_t>(rank) * kCells + 1] = rank + 1;
  }
  for (int step = 0; step < kSteps; ++step) smooth(std::vector<double>(rod), rod.data());
  const bool right = std::equal(cells.begin() + 1, cells.end() - 1,
                                rod.begin() + me * static_cast<std::ptrdiff_t>(kCells) + 1);
  std::printf("rank %d: %f ... %f after %d steps: %s\n", me, cells[1], cells[kCells], kSteps,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}
