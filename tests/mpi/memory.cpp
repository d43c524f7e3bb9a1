// Memory of every kind behind windows and operations, at any alignment, in parts of windows as
// origins, and what becomes of windows when a process forks [MPI-3.1, 11.2, 11.3].

#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>

#include "support.hpp"

namespace {

constexpr std::size_t kPage = 4096;

int* mapped(int flags, int file = -1) {
  void* const memory = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, flags, file, 0);
  return CHECK(memory != MAP_FAILED) ? static_cast<int*>(memory) : nullptr;
}

void use(int* memory) {
  std::fill(memory, memory + 4, 0);
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(
      MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  const int value = 5 + test.rank;
  int got = -1;
  in_epoch(Epoch::fence, win, right_rank(), [&] {
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, right_rank(), 2, 1, MPI_INT, MPI_SUM, win));
  });
  in_epoch(Epoch::lock_all, win, right_rank(),
           [&] { CHECK_OK(MPI_Get(&got, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, win)); });
  CHECK_INT(value, got);
  CHECK_INT(5 + left_rank(), memory[1]);
  CHECK_INT(5 + left_rank(), memory[2]);
  CHECK_OK(MPI_Win_free(&win));
}

void kinds() {
  static int of_the_program[4];
  int on_the_stack[4];
  FILE* const file = tmpfile();
  CHECK(file != nullptr && ftruncate(fileno(file), kPage) == 0);
  int* const maps[] = {mapped(MAP_SHARED | MAP_ANONYMOUS), mapped(MAP_PRIVATE | MAP_ANONYMOUS),
                       mapped(MAP_SHARED, fileno(file)), mapped(MAP_PRIVATE, fileno(file))};
  use(of_the_program);
  use(on_the_stack);
  for (int* const memory : maps) {
    use(memory);
    use(memory + kPage / sizeof(int) - 4);
    munmap(memory, kPage);
  }
  fclose(file);
}

/// Origins that must not be written.
void constant_origins() {
  static const int constants[4] = {9, 8, 7, 6};
  int* const page = mapped(MAP_PRIVATE | MAP_ANONYMOUS);
  std::copy(constants, constants + 4, page);
  mprotect(page, kPage, PROT_READ);
  for (const int* const origin : {constants, const_cast<const int*>(page)}) {
    Area<int> area(Flavor::create, 4);
    int got = -1;
    in_epoch(Epoch::lock_all, area.win, right_rank(), [&] {
      CHECK_OK(MPI_Put(origin, 3, MPI_INT, right_rank(), 0, 3, MPI_INT, area.win));
      CHECK_OK(MPI_Fetch_and_op(origin + 3, &got, MPI_INT, right_rank(), 3, MPI_SUM, area.win));
    });
    CHECK(std::equal(constants, constants + 4, area.base));
    CHECK_INT(0, got);
  }
  munmap(page, kPage);
}

template <class T>
T at(const char* memory) {
  T value;
  memcpy(&value, memory, sizeof(value));
  return value;
}

/// All operations on elements at odd addresses, by all ranks.
void odd_addresses() {
  alignas(64) static char memory[256];
  for (const int begin : {0, 1, 4, 61}) {
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_create(memory + begin, 128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (const int odd : {1, 2, 3}) {
      memset(memory, 0, sizeof(memory));
      const double real = 0.5;
      const long one = 1;
      const long zero = 0;
      double got_real = -1;
      long got = -1;
      in_epoch(Epoch::lock_all, win, 0, [&] {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Accumulate(&real, 1, MPI_DOUBLE, 0, odd, 1, MPI_DOUBLE, MPI_SUM, win));
        CHECK_OK(MPI_Fetch_and_op(&real, &got_real, MPI_DOUBLE, 0, odd, MPI_SUM, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, odd + 16, 1, MPI_LONG, MPI_SUM, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, odd + 16, MPI_SUM, win));
        CHECK_OK(MPI_Compare_and_swap(&one, &zero, &got, MPI_LONG, 0, odd + 32, win));
      });
      if (test.rank == 0) {
        CHECK_REAL(test.ranks, at<double>(memory + begin + odd));
        CHECK_INT(2 * test.ranks, at<long>(memory + begin + odd + 16));
        CHECK_INT(1, at<long>(memory + begin + odd + 32));
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Win_free(&win));
  }
}

/// A part of the window is the origin, from MPI_BOTTOM as well, and receives what is fetched.
void windows_as_origins(Flavor flavor) {
  Area<int> area(flavor, 20);
  const auto fill = [&] {
    for (int i = 0; i < 20; ++i) area.base[i] = 100 * test.rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
  };
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  const int blocks[2] = {3, 2};
  MPI_Aint places[2] = {};
  MPI_Get_address(area.base, &places[0]);
  MPI_Get_address(area.base + 5, &places[1]);
  MPI_Type_create_hindexed(2, blocks, places, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  const int right = right_rank();
  for (const Epoch epoch : kEpochs) {
    fill();
    in_epoch(epoch, area.win, right, [&] {
      CHECK_OK(MPI_Put(MPI_BOTTOM, 1, absolute, right, area.at(right, 10), 5, MPI_INT, area.win));
      CHECK_OK(MPI_Get(area.base + 15, 2, MPI_INT, right, area.at(right, 8), 2, MPI_INT, area.win));
      CHECK_OK(MPI_Accumulate(area.base + 7, 1, MPI_INT, right, area.at(right, 19), 1, MPI_INT,
                              MPI_SUM, area.win));
    });
    const int left = 100 * left_rank();
    CHECK_INT(left + 2, area.base[12]);
    CHECK_INT(left + 5, area.base[13]);
    CHECK_INT(left + 6, area.base[14]);
    CHECK_INT(100 * right + 9, area.base[16]);
    CHECK_INT(100 * test.rank + 19 + left + 7, area.base[19]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&absolute);
}

/// Children that end, that run another program, that are waited for by popen().
void forks(Flavor flavor) {
  Area<int> area(flavor, 1);
  int status = -1;
  pid_t child = fork();
  if (child == 0) _exit(3);
  waitpid(child, &status, 0);
  CHECK_INT(3, WEXITSTATUS(status));
  child = fork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  waitpid(child, &status, 0);
  CHECK_INT(0, WEXITSTATUS(status));
  FILE* const pipe = popen("echo word", "r");
  char word[8] = "";
  CHECK(fgets(word, sizeof(word), pipe) != nullptr);
  pclose(pipe);
  in_epoch(Epoch::fence, area.win, right_rank(), [&] {
    CHECK_OK(MPI_Put(&test.rank, 1, MPI_INT, right_rank(), area.at(right_rank(), 0), 1, MPI_INT,
                     area.win));
  });
  CHECK_INT(left_rank(), area.base[0]);
}

/// What cannot be had is an error, at all ranks if at one, and leaves nothing behind.
void too_much() {
  constexpr auto huge = MPI_Aint{1} << 50;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  void* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_CLASS(MPI_ERR_NO_MEM, MPI_Alloc_mem(huge, MPI_INFO_NULL, &memory));
  for (const int greedy : {0, test.ranks - 1}) {
    const MPI_Aint bytes = test.rank == greedy ? huge : 8;
    CHECK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win) != MPI_SUCCESS);
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_free(&win));
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  for (const MPI_Aint bytes : {MPI_Aint{0}, MPI_Aint{1}, MPI_Aint{10'000'000}}) {
    CHECK_OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
    memset(memory, 1, static_cast<std::size_t>(bytes));
    CHECK_OK(MPI_Free_mem(memory));
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_memory", &argc, &argv);
  test_section("kinds of memory");
  kinds();
  test_section("constant origins");
  constant_origins();
  test_section("odd addresses");
  odd_addresses();
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    if (flavor == Flavor::shared && !shares) continue;
    test_section("windows as origins");
    windows_as_origins(flavor);
    test_section("forks");
    forks(flavor);
  }
  test_section("too much memory");
  too_much();
  return test_end();
}
