// MPI stays the program's: it is used before, beside and after Oriel.
#include <cstdio>
#include <oriel/mpi.hpp>
#include <oriel/oriel.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sum = 0;
  {
    oriel::Runtime job(MPI_COMM_WORLD);
    auto window = oriel::Window<long>::allocate(job.world(), 1);
    window.fetch_add(1L + job.world().rank(), oriel::Rank{0}, 0);
    window.fence();
    sum = window.get(oriel::Rank{0}, 0);
  }
  long largest = 0;
  MPI_Allreduce(&sum, &largest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  std::printf("sum over %d ranks: %ld\n", size, largest);
  MPI_Finalize();
  return sum == largest && sum == long{size} * (size + 1) / 2 ? 0 : 1;
}
