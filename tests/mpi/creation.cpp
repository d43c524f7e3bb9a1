// Windows of every kind: what they are made of, what they tell about themselves, and their end
// [MPI-3.1, 11.2].

#include "support.hpp"

namespace {

void check_attributes(MPI_Win win, void* base, MPI_Aint bytes, int unit, int flavor) {
  void* found = nullptr;
  int flag = 0;
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag));
  CHECK(flag != 0);
  CHECK(found == base);
  MPI_Aint* size = nullptr;
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
  if (CHECK(flag != 0)) CHECK_INT(bytes, *size);
  int* number = nullptr;
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag));
  if (CHECK(flag != 0)) CHECK_INT(unit, *number);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
  if (CHECK(flag != 0)) CHECK_INT(flavor, *number);
  CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag));
  if (CHECK(flag != 0)) CHECK(*number == MPI_WIN_UNIFIED || *number == MPI_WIN_SEPARATE);
}

void check_group(MPI_Win win, MPI_Comm comm) {
  MPI_Group of_win = MPI_GROUP_NULL;
  MPI_Group of_comm = MPI_GROUP_NULL;
  CHECK_OK(MPI_Win_get_group(win, &of_win));
  MPI_Comm_group(comm, &of_comm);
  int result = MPI_UNEQUAL;
  MPI_Group_compare(of_win, of_comm, &result);
  CHECK_INT(MPI_IDENT, result);
  CHECK_OK(MPI_Group_free(&of_win));
  // The caller's copy alone was freed.
  CHECK_OK(MPI_Win_get_group(win, &of_win));
  MPI_Group_compare(of_win, of_comm, &result);
  CHECK_INT(MPI_IDENT, result);
  MPI_Group_free(&of_win);
  MPI_Group_free(&of_comm);
}

void check_fortran_handle(MPI_Win win) {
  const MPI_Fint index = MPI_Win_c2f(win);
  CHECK(MPI_Win_f2c(index) == win);
  CHECK_INT(index, MPI_Win_c2f(win));
  CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

void end(MPI_Win& win) {
  CHECK_OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
}

void created(MPI_Comm comm) {
  std::vector<int> memory(16 + static_cast<std::size_t>(comm_rank(comm)));
  const auto bytes = static_cast<MPI_Aint>(memory.size() * sizeof(int));
  for (const int unit : {1, 4, 3, 4096}) {
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_create(memory.data(), bytes, unit, MPI_INFO_NULL, comm, &win));
    CHECK(win != MPI_WIN_NULL);
    check_attributes(win, memory.data(), bytes, unit, MPI_WIN_FLAVOR_CREATE);
    check_group(win, comm);
    check_fortran_handle(win);
    end(win);
  }
}

/// "If size = 0, the base is ignored": null there, and no memory at some ranks alone.
void without_memory(MPI_Comm comm) {
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, comm, &win));
  check_attributes(win, nullptr, 0, 1, MPI_WIN_FLAVOR_CREATE);
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  end(win);

  long value = 5;
  const bool first = comm_rank(comm) == 0;
  CHECK_OK(MPI_Win_create(first ? &value : nullptr, first ? MPI_Aint{sizeof(value)} : 0,
                          sizeof(long), MPI_INFO_NULL, comm, &win));
  long found = 0;
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  CHECK_OK(MPI_Get(&found, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_INT(5, found);
  end(win);
}

void allocated(MPI_Comm comm) {
  for (const MPI_Aint bytes : {MPI_Aint{0}, MPI_Aint{1}, MPI_Aint{64}, MPI_Aint{1 << 20}}) {
    const MPI_Aint mine = bytes + 8 * comm_rank(comm) * (bytes != 0);
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_allocate(mine, 2, MPI_INFO_NULL, comm, &base, &win));
    check_attributes(win, base, mine, 2, MPI_WIN_FLAVOR_ALLOCATE);
    CHECK(mine == 0 || base != nullptr);
    std::memset(base, 7, static_cast<std::size_t>(mine));
    check_group(win, comm);
    check_fortran_handle(win);
    end(win);
  }
}

void shared() {
  MPI_Comm comm = shared_comm();
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const MPI_Aint bytes = 128 * (1 + comm_rank(comm));
  CHECK_OK(MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, comm, &base, &win));
  check_attributes(win, base, bytes, 8, MPI_WIN_FLAVOR_SHARED);
  check_group(win, comm);
  check_fortran_handle(win);
  std::memset(base, 1, static_cast<std::size_t>(bytes));
  end(win);
  MPI_Comm_free(&comm);
}

void dynamic(MPI_Comm comm) {
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
  // MPI_BOTTOM, no bytes, and addresses count bytes.
  check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  check_group(win, comm);
  check_fortran_handle(win);
  end(win);
}

/// The parts of different ranks, and windows of one rank, may overlap in memory.
void overlapping() {
  std::array<int, 8> memory{};
  MPI_Win whole = MPI_WIN_NULL;
  MPI_Win half = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(memory.data(), sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &whole));
  CHECK_OK(MPI_Win_create(&memory[4], 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &half));
  const int value = 100 + test.rank;
  CHECK_OK(MPI_Win_fence(0, half));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, half));
  CHECK_OK(MPI_Win_fence(0, half));
  int found = -1;
  CHECK_OK(MPI_Win_fence(0, whole));
  CHECK_OK(MPI_Get(&found, 1, MPI_INT, right_rank(), 5, 1, MPI_INT, whole));
  CHECK_OK(MPI_Win_fence(0, whole));
  CHECK_INT(value, found);
  CHECK_INT(100 + left_rank(), memory[5]);
  end(whole);
  end(half);
}

/// MPI_Win_free is collective, and after it all operations of all ranks are in the memory.
void free_waits() {
  int value = -1;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(&value, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  if (test.rank == test.ranks - 1) usleep(20000);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, win));
  const int mine = test.rank;
  CHECK_OK(MPI_Put(&mine, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_unlock(right_rank(), win));
  end(win);
  CHECK_INT(left_rank(), value);
}

/// Between two windows of a name there is nothing that stays; handles may come again.
void again_and_again() {
  for (int round = 0; round < test_scaled(50); ++round) {
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    *base = round;
    MPI_Barrier(MPI_COMM_WORLD);
    int found = -1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, win));
    CHECK_OK(MPI_Get(&found, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(right_rank(), win));
    CHECK_INT(round, found);
    end(win);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_creation", &argc, &argv);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    test_section("MPI_Win_create");
    created(comm);
    test_section("windows without memory");
    without_memory(comm);
    test_section("MPI_Win_allocate");
    allocated(comm);
    test_section("MPI_Win_create_dynamic");
    dynamic(comm);
  }
  test_section("MPI_Win_allocate_shared");
  shared();
  test_section("overlapping windows");
  overlapping();
  test_section("MPI_Win_free");
  free_waits();
  test_section("windows one after the other");
  again_and_again();
  return test_end();
}
