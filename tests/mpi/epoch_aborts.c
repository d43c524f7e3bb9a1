/* One rank calls MPI_Abort while others wait, each in another call, for what only it could do: the
 * job ends with an error, and nobody stays. */

#include "support.h"

static void wait_for_ever(MPI_Win win) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &group);
  switch (test.rank % 4) {
    case 1:
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      break;
    case 2:
      MPI_Win_fence(0, win);
      break;
    case 3:
      MPI_Win_start(group, 0, win);
      MPI_Win_complete(win);
      break;
    default:
      MPI_Win_post(group, 0, win);
      MPI_Win_wait(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  test_begin("mpi_epoch_aborts", &argc, &argv);
  test_section("MPI_Abort");
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  if (test.rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank != 0) wait_for_ever(win);
  usleep(200000);
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 0;
}
