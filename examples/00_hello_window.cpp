/// The smallest window: every rank shows one number, and reads its right neighbour's.
///
///     ./00_hello_window                # a job of one rank: its own neighbour
///     mpirun -n 4 ./00_hello_window

#include <cstdio>
#include <oriel/oriel.hpp>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const int me = world.rank();
  const oriel::Rank right{(me + 1) % world.size()};

  // Collective: from here on, everybody's number can be reached by everybody.
  auto window = oriel::Window<int>::allocate(world, 1);
  window.local()[0] = 100 + me;
  window.fence();  // nobody reads before everyone has written

  // One-sided: `right` does nothing for this, and does not even notice.
  const int number = window.get(right, 0);
  std::printf("rank %d of %d: hello! rank %d shows %d\n", me, world.size(), int{right}, number);

  return number == 100 + right ? 0 : 1;
}
