/* MPI_Finalize with windows that nobody freed, in every state they may be in: the program ends, and
 * with its own status. It is wrong, so there may be a warning. */

#include "support.h"

static void leave_windows(void) {
  static int memory[4];
  int* base = NULL;
  int value = 7;
  MPI_Win created = MPI_WIN_NULL;
  MPI_Win allocated = MPI_WIN_NULL;
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Win fenced = MPI_WIN_NULL;
  CHECK_OK(
      MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &created));
  CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated));
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
  CHECK_OK(MPI_Win_attach(dynamic, &memory[2], sizeof(int)));
  CHECK_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &fenced));
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, created));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, created));
  CHECK_OK(MPI_Win_unlock(0, created));
  CHECK_OK(MPI_Win_fence(0, fenced));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(7, memory[0]);
}

int main(int argc, char** argv) {
  test_begin("mpi_finalize_with_windows", &argc, &argv);
  test_section("windows that stay");
  leave_windows();
  return test_end();
}
