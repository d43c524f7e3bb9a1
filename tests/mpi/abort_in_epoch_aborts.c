/* One rank calls MPI_Abort while others are in epochs that only it could end: the job ends, and
 * nobody stays. The argument says in which call the others wait: fence, start, lock, or barrier. */

#include "support.h"

static void wait_for_ever(const char* how, MPI_Win win) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Win_get_group(win, &group);
  if (strcmp(how, "start") == 0) {
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
  } else if (strcmp(how, "lock") == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  } else if (strcmp(how, "fence") == 0) {
    MPI_Win_fence(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "lock";
  int* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  test_begin("mpi_abort_in_epoch", &argc, &argv);
  test_section(how);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  if (test.rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank != 0) wait_for_ever(how, win);
  usleep(200000);
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 0;
}
