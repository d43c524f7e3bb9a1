/// Fetch-add: the ranks share out tasks by drawing numbers from one counter; there is no master.
///
///     mpirun -n 4 ./02_fetch_add_counter

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <oriel/oriel.hpp>
#include <thread>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  constexpr std::int64_t kTasks = 100;
  constexpr oriel::Rank kOwner{0};

  // Cell 0: the next task; cell 1: the sum of all task numbers done. Only rank 0 has memory here.
  auto cells = oriel::Window<std::int64_t>::allocate(world, world.rank() == kOwner ? 2 : 0);

  std::int64_t done = 0;
  std::int64_t sum = 0;
  // Nobody draws the same number twice, and whoever is quick draws more.
  for (auto task = cells.fetch_add(1, kOwner, 0); task < kTasks;
       task = cells.fetch_add(1, kOwner, 0)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the work
    sum += task;
    ++done;
  }
  cells.fetch_add(sum, kOwner, 1);
  cells.fence();  // every rank has added its sum

  const std::int64_t total = cells.get(kOwner, 1);
  std::printf("rank %d: did %lld of %lld tasks, all sums: %lld\n", int{world.rank()},
              static_cast<long long>(done), static_cast<long long>(kTasks),
              static_cast<long long>(total));
  return total == kTasks * (kTasks - 1) / 2 ? 0 : 1;
}
