// Windows on communicators of every kind: one's own, parts, copies, other orders of ranks, graphs;
// intercommunicators are refused [MPI-3.1, 11.2].

#include "support.hpp"

namespace {

/// A ring over the window's own ranks, checked by world ranks.
void ring(MPI_Comm comm) {
  const int me = comm_rank(comm);
  const int size = comm_size(comm);
  const int right = (me + 1) % size;
  int left_in_world = -1;
  MPI_Sendrecv(&test.rank, 1, MPI_INT, right, 3, &left_in_world, 1, MPI_INT, (me + size - 1) % size,
               3, comm, MPI_STATUS_IGNORE);
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
  base[0] = base[1] = -1;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(&test.rank, 1, MPI_INT, right, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_INT(left_in_world, base[0]);
  MPI_Group group = MPI_GROUP_NULL;
  CHECK_OK(MPI_Win_get_group(win, &group));
  CHECK_OK(MPI_Win_post(group, 0, win));
  CHECK_OK(MPI_Win_start(group, 0, win));
  CHECK_OK(MPI_Accumulate(&test.rank, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_REPLACE, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_wait(win));
  CHECK_INT(left_in_world, base[1]);
  MPI_Group_free(&group);
  int seen = -1;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
  CHECK_OK(MPI_Get(&seen, 1, MPI_INT, right, 1, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_unlock(right, win));
  CHECK_INT(test.rank, seen);
  CHECK_OK(MPI_Win_free(&win));
}

void of_its_own() {
  ring(MPI_COMM_SELF);
  int value = 1;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(&value, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
  const int one = 1;
  int before = -1;
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_INT(1, before);
  CHECK_INT(2, value);
  CHECK_OK(MPI_Win_free(&win));
}

void parts() {
  for (int many = 1; many <= 3; ++many) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % many, 0, &comm);
    ring(comm);
    MPI_Comm_free(&comm);
  }
  // Some are not in it, and do something else meanwhile.
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, test.rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
  if (comm != MPI_COMM_NULL) {
    ring(comm);
    MPI_Comm_free(&comm);
  }
}

void other_orders() {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &reversed);
  ring(reversed);
  MPI_Comm odd_first = MPI_COMM_NULL;
  MPI_Comm_split(reversed, 0, test.rank % 2 == 0 ? 100 + test.rank : test.rank, &odd_first);
  ring(odd_first);
  MPI_Comm_free(&odd_first);
  MPI_Comm_free(&reversed);
}

void copies() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  ring(copy);
  // The communicator may go before its window.
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, copy, &base, &win));
  MPI_Comm_free(&copy);
  *base = -1;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(&test.rank, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_INT(left_rank(), *base);
  CHECK_OK(MPI_Win_free(&win));
}

void made_otherwise() {
  int dims[2] = {0, 0};
  const int periodic[2] = {1, 0};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dims_create(test.ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 1, &comm);
  ring(comm);
  MPI_Comm_free(&comm);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, test.ranks - 1, 2}};
  MPI_Group_range_incl(world, 1, range, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
  if (comm != MPI_COMM_NULL) {
    ring(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&world);
}

/// A part's windows beside the whole's: each has its own ranks.
void side_by_side() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &half);
  int whole_value = -1;
  int half_value = -1;
  MPI_Win of_whole = MPI_WIN_NULL;
  MPI_Win of_half = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(&whole_value, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of_whole));
  CHECK_OK(MPI_Win_create(&half_value, sizeof(int), 1, MPI_INFO_NULL, half, &of_half));
  const int size = comm_size(half);
  const int next = (comm_rank(half) + 1) % size;
  CHECK_OK(MPI_Win_fence(0, of_whole));
  CHECK_OK(MPI_Win_fence(0, of_half));
  CHECK_OK(MPI_Put(&test.rank, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, of_whole));
  CHECK_OK(MPI_Put(&test.rank, 1, MPI_INT, next, 0, 1, MPI_INT, of_half));
  CHECK_OK(MPI_Win_fence(0, of_half));
  CHECK_OK(MPI_Win_fence(0, of_whole));
  CHECK_INT(left_rank(), whole_value);
  CHECK_INT((test.rank + 2) % 2, half_value % 2);
  const int before = comm_rank(half) == 0 ? size - 1 : comm_rank(half) - 1;
  int expected = -1;
  MPI_Sendrecv(&test.rank, 1, MPI_INT, next, 1, &expected, 1, MPI_INT, before, 1, half,
               MPI_STATUS_IGNORE);
  CHECK_INT(expected, half_value);
  CHECK_OK(MPI_Win_free(&of_whole));
  CHECK_OK(MPI_Win_free(&of_half));
  MPI_Comm_free(&half);
}

void intercommunicators() {
  if (test.ranks < 2) return;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  const int side = test.rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int value = 0;
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_CLASS(MPI_ERR_COMM, MPI_Win_create(&value, 4, 4, MPI_INFO_NULL, inter, &win));
  CHECK_CLASS(MPI_ERR_COMM, MPI_Win_allocate(4, 4, MPI_INFO_NULL, inter, &base, &win));
  CHECK_CLASS(MPI_ERR_COMM, MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, inter, &base, &win));
  CHECK_CLASS(MPI_ERR_COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win));
  // What is made of one is an ordinary communicator.
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, side, &merged);
  ring(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&part);
}

/// Many alive at once, used in turn, freed in another order.
void many_windows() {
  const int many = test_scaled(100);
  std::vector<MPI_Win> windows(static_cast<std::size_t>(many));
  std::vector<int*> bases(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i],
                              &windows[i]));
    *bases[i] = -1;
    CHECK_OK(MPI_Win_fence(0, windows[i]));
  }
  std::vector<int> values(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    values[i] = 1000 * test.rank + static_cast<int>(i);
    CHECK_OK(MPI_Put(&values[i], 1, MPI_INT, right_rank(), 0, 1, MPI_INT, windows[i]));
  }
  for (const MPI_Win win : windows) CHECK_OK(MPI_Win_fence(0, win));
  for (std::size_t i = 0; i < windows.size(); ++i)
    CHECK_INT(1000 * left_rank() + static_cast<int>(i), *bases[i]);
  for (std::size_t i = 1; i < windows.size(); i += 2) CHECK_OK(MPI_Win_free(&windows[i]));
  for (std::size_t i = 0; i < windows.size(); i += 2) CHECK_OK(MPI_Win_free(&windows[i]));
}

/// A thousand one after the other leave nothing behind that runs out.
void a_thousand() {
  const int many = test_scaled(1000);
  int memory = 0;
  for (int i = 0; i < many; ++i) {
    MPI_Win win = MPI_WIN_NULL;
    int status = MPI_SUCCESS;
    int* base = nullptr;
    MPI_Comm comm = i % 4 == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD;
    if (i % 3 == 0)
      status = MPI_Win_create(&memory, sizeof(int), 1, MPI_INFO_NULL, comm, &win);
    else if (i % 3 == 1)
      status = MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &win);
    else
      status = MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    if (!CHECK_OK(status)) return;
    CHECK_OK(MPI_Win_free(&win));
  }
}

/// Each with a communicator of its own.
void communicators_of_their_own() {
  for (int i = 0; i < test_scaled(60); ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, i % 2 == 0 ? test.rank : -test.rank, &comm);
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, &win));
    CHECK_OK(MPI_Win_free(&win));
    MPI_Comm_free(&comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_communicators", &argc, &argv);
  const std::pair<const char*, void (*)()> cases[] = {
      {"MPI_COMM_SELF", of_its_own},
      {"parts of the world", parts},
      {"other orders of ranks", other_orders},
      {"copies", copies},
      {"grids and groups", made_otherwise},
      {"side by side", side_by_side},
      {"intercommunicators", intercommunicators},
      {"many windows", many_windows},
      {"a thousand windows", a_thousand},
      {"communicators of their own", communicators_of_their_own},
  };
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return test_end();
}
