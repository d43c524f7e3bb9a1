// Shared windows: where the parts lie, loads and stores beside operations, MPI_Win_sync
// [MPI-3.1, 11.2.3, 11.5.4].

#include "support.hpp"

namespace {

MPI_Comm comm = MPI_COMM_NULL;
int me = 0;
int ranks = 0;

struct Part {
  MPI_Aint bytes = -1;
  int unit = -1;
  char* base = nullptr;
};

Part part_of(MPI_Win win, int rank) {
  Part part;
  CHECK_OK(MPI_Win_shared_query(win, rank, &part.bytes, &part.unit, &part.base));
  return part;
}

/// One after the other in the order of ranks, unless asked otherwise, whatever the sizes.
void contiguous() {
  for (const int step : {8, 24, 1, 1000}) {
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    const MPI_Aint bytes = step * (me % 3 + 1);
    CHECK_OK(MPI_Win_allocate_shared(bytes, me + 1, MPI_INFO_NULL, comm, &base, &win));
    char* expected = nullptr;
    for (int rank = 0; rank < ranks; ++rank) {
      const Part part = part_of(win, rank);
      CHECK_INT(step * (rank % 3 + 1), part.bytes);
      CHECK_INT(rank + 1, part.unit);
      if (rank == me) CHECK(part.base == base);
      if (rank > 0) CHECK(part.base == expected);
      expected = part.base + part.bytes;
    }
    CHECK_OK(MPI_Win_free(&win));
  }
}

/// MPI_PROC_NULL: the first rank that gave any memory.
void first_part() {
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate_shared(me == ranks - 1 ? 64 : 0, 4, MPI_INFO_NULL, comm, &base, &win));
  const Part first = part_of(win, MPI_PROC_NULL);
  const Part last = part_of(win, ranks - 1);
  CHECK(first.base == last.base);
  CHECK_INT(64, first.bytes);
  CHECK_INT(4, first.unit);
  if (ranks > 1) CHECK_INT(0, part_of(win, 0).bytes);
  CHECK_OK(MPI_Win_free(&win));
  // Nobody gave any.
  CHECK_OK(MPI_Win_allocate_shared(0, 4, MPI_INFO_NULL, comm, &base, &win));
  CHECK_INT(0, part_of(win, MPI_PROC_NULL).bytes);
  CHECK_OK(MPI_Win_free(&win));
}

/// A relay of stores and loads within lock_all, in the order that MPI_Win_sync and barriers give.
void stores_and_loads() {
  long* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(
      MPI_Win_allocate_shared(16 * sizeof(long), sizeof(long), MPI_INFO_NULL, comm, &base, &win));
  auto* const right = reinterpret_cast<long*>(part_of(win, (me + 1) % ranks).base);
  const int left = (me + ranks - 1) % ranks;
  CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  for (int round = 0; round < test_scaled(100); ++round) {
    for (int i = 0; i < 16; ++i) right[i] = 1000L * round + 16 * me + i;
    CHECK_OK(MPI_Win_sync(win));
    MPI_Barrier(comm);
    CHECK_OK(MPI_Win_sync(win));
    for (int i = 0; i < 16; ++i) CHECK_INT(1000L * round + 16 * left + i, base[i]);
    MPI_Barrier(comm);
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Win_free(&win));
}

/// The same words by operations, and by the processors' own atomic ones.
void beside_operations() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate_shared(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
  for (int i = 0; i < 4; ++i) base[i] = 0;
  MPI_Barrier(comm);
  auto* const first = reinterpret_cast<int*>(part_of(win, 0).base);
  // Put, and load what came; store, and get it.
  const int value = 50 + me;
  const int right = (me + 1) % ranks;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_INT(50 + (me + ranks - 1) % ranks, base[1]);
  base[2] = 70 + me;
  CHECK_OK(MPI_Win_fence(0, win));
  int got = -1;
  CHECK_OK(MPI_Get(&got, 1, MPI_INT, right, 2, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_INT(70 + right, got);
  // Sums, by turns.
  const int one = 1;
  const int rounds = test_scaled(200);
  CHECK_OK(MPI_Win_lock_all(0, win));
  for (int i = 0; i < rounds; ++i)
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(comm);
  CHECK_INT(rounds * ranks, first[0]);
  CHECK_OK(MPI_Win_free(&win));
}

/// An exclusive lock protects loads and stores.
void locks_and_stores() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate_shared(me == 0 ? 2 * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, comm,
                                   &base, &win));
  auto* const words = reinterpret_cast<int*>(part_of(win, 0).base);
  if (me == 0) words[0] = words[1] = 0;
  MPI_Barrier(comm);
  const int rounds = test_scaled(100);
  for (int i = 0; i < rounds; ++i) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_INT(words[0], words[1]);
    ++words[0];
    ++words[1];
    CHECK_OK(MPI_Win_unlock(0, win));
  }
  MPI_Barrier(comm);
  CHECK_INT(rounds * ranks, words[0]);
  MPI_Barrier(comm);
  CHECK_OK(MPI_Win_free(&win));
}

/// One waits for the other's flag: loads see stores in the end, without any call of MPI's.
void flags() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
  base[0] = base[1] = 0;
  MPI_Barrier(comm);
  auto* const right = reinterpret_cast<int*>(part_of(win, (me + 1) % ranks).base);
  for (int round = 1; round <= test_scaled(50); ++round) {
    right[1] = 10 * round;
    __atomic_store_n(&right[0], round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&base[0], __ATOMIC_ACQUIRE) < round) usleep(10);
    CHECK_INT(10 * round, base[1]);
    MPI_Barrier(comm);
  }
  CHECK_OK(MPI_Win_free(&win));
}

/// Ranks that have no memory in common are refused. A machine that only looks like several has
/// some.
void of_all_machines() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int status = MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  CHECK_CLASS2(MPI_SUCCESS, MPI_ERR_RMA_SHARED, status);
  if (status == MPI_SUCCESS) CHECK_OK(MPI_Win_free(&win));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void bad_queries() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, comm, &base, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  MPI_Aint bytes = 0;
  int unit = 0;
  CHECK_CLASS(MPI_ERR_RANK, MPI_Win_shared_query(win, ranks, &bytes, &unit, &base));
  CHECK_CLASS(MPI_ERR_RANK, MPI_Win_shared_query(win, -8, &bytes, &unit, &base));
  CHECK_OK(MPI_Win_free(&win));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_shared", &argc, &argv);
  comm = shared_comm();
  me = comm_rank(comm);
  ranks = comm_size(comm);
  const std::pair<const char*, void (*)()> cases[] = {
      {"one after the other", contiguous},     {"the first part", first_part},
      {"stores and loads", stores_and_loads},  {"beside operations", beside_operations},
      {"locks and stores", locks_and_stores},  {"flags", flags},
      {"queries that are wrong", bad_queries}, {"ranks of several machines", of_all_machines},
  };
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
  }
  MPI_Comm_free(&comm);
  return test_end();
}
