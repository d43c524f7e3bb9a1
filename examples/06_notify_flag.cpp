/// Notified access: data, and behind it a sign that it is there; the receiver waits for nothing
/// else.
///
///     mpirun -n 4 ./06_notify_flag

#include <algorithm>
#include <cstdio>
#include <oriel/oriel.hpp>
#include <vector>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const int me = world.rank();
  const oriel::Rank right{(me + 1) % world.size()};
  constexpr std::size_t kSlot = 0;  // a window has slots of its own, 64 unless told otherwise
  constexpr int kLaps = 100;

  // A row of numbers runs around the ring of ranks, and each adds its part to all of them.
  //
  // One part of the window is enough, and nobody asks for leave to write there: rank r puts into
  // its right neighbour's part for the next lap only when the row has come around, and so after
  // the neighbour has read it for this lap.
  auto window = oriel::Window<long>::allocate(world, 1000);
  std::vector<long> row(window.local().size());
  for (int lap = 0; lap < kLaps; ++lap) {
    if (me != 0 || lap > 0) {
      window.wait_notify(kSlot);  // the left neighbour's put is complete
      std::ranges::copy(window.local(), row.begin());
    }
    for (long& number : row) number += me + 1;
    window.put_notify(row, right, 0, kSlot);
    window.flush_local(right);  // `row` may be changed
  }
  if (me == 0) window.wait_notify(kSlot);  // the last lap ends here

  const long each_lap = long{world.size()} * (world.size() + 1) / 2;
  const long behind = me == 0 ? 0 : each_lap - long{me} * (me + 1) / 2;  // has yet to be added
  const bool is_right = std::ranges::all_of(
      window.local(), [&](long number) { return number == kLaps * each_lap - behind; });
  std::printf("rank %d: got %ld after %d laps: %s\n", me, window.local()[0], kLaps,
              is_right ? "right" : "WRONG");
  return is_right ? 0 : 1;
}
