// Post, start, complete, wait, test: with all groups, none, and some, and who waits for whom
// [MPI-3.1, 11.5.2].

#include "support.hpp"

namespace {

MPI_Win win = MPI_WIN_NULL;
std::vector<int> memory;
MPI_Group world = MPI_GROUP_NULL;

MPI_Group group_of(const std::vector<int>& ranks) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  return group;
}

/// Neighbours in a ring: each is exposed to the left, and accesses the right.
void ring() {
  MPI_Group left = group_of({left_rank()});
  MPI_Group right = group_of({right_rank()});
  for (int round = 0; round < test_scaled(100); ++round) {
    const int value = 100 * round + test.rank;
    CHECK_OK(MPI_Win_post(left, 0, win));
    CHECK_OK(MPI_Win_start(right, 0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_INT(100 * round + left_rank(), memory[0]);
  }
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

/// One target, all others access it; the group's order is of no meaning, and it may be freed.
void star() {
  for (int centre = 0; centre < test.ranks; ++centre) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == centre) {
      std::vector<int> others;
      for (int rank = test.ranks - 1; rank >= 0; --rank)
        if (rank != centre) others.push_back(rank);
      MPI_Group group = group_of(others);
      CHECK_OK(MPI_Win_post(group, 0, win));
      MPI_Group_free(&group);
      CHECK_OK(MPI_Win_wait(win));
      for (const int rank : others)
        CHECK_INT(7 * rank + centre, memory[static_cast<std::size_t>(rank)]);
    } else {
      MPI_Group group = group_of({centre});
      CHECK_OK(MPI_Win_start(group, 0, win));
      MPI_Group_free(&group);
      const int value = 7 * test.rank + centre;
      CHECK_OK(MPI_Put(&value, 1, MPI_INT, centre, test.rank, 1, MPI_INT, win));
      CHECK_OK(MPI_Win_complete(win));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void empty_groups() {
  CHECK_OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
  CHECK_OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_wait(win));
  MPI_Group none = group_of({});
  CHECK_OK(MPI_Win_start(none, 0, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_post(none, 0, win));
  int flag = 0;
  CHECK_OK(MPI_Win_test(win, &flag));
  CHECK(flag != 0);
  if (none != MPI_GROUP_EMPTY) MPI_Group_free(&none);
}

/// An epoch without an operation is one too.
void nothing_done() {
  for (int round = 0; round < 10; ++round) {
    CHECK_OK(MPI_Win_post(world, 0, win));
    CHECK_OK(MPI_Win_start(world, 0, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
  }
}

/// MPI_Win_test ends the epoch when it says so, once.
void tested() {
  for (int round = 0; round < 10; ++round) {
    const int value = 1000 + round;
    CHECK_OK(MPI_Win_post(world, 0, win));
    int flag = 0;
    // Nobody has started: this very rank has not.
    CHECK_OK(MPI_Win_test(win, &flag));
    CHECK_INT(0, flag);
    CHECK_OK(MPI_Win_start(world, 0, win));
    for (int rank = 0; rank < test.ranks; ++rank)
      CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, test.rank, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    while (flag == 0) CHECK_OK(MPI_Win_test(win, &flag));
    for (int rank = 0; rank < test.ranks; ++rank)
      CHECK_INT(1000 + round, memory[static_cast<std::size_t>(rank)]);
    CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
  }
}

/// Exposure and access epochs in turn: who is exposed while others are late.
void late() {
  MPI_Group left = group_of({left_rank()});
  MPI_Group right = group_of({right_rank()});
  for (int round = 0; round < 3; ++round) {
    if (test.rank % 2 == round % 2) usleep(5000);
    const int value = 10 * test.rank + round;
    CHECK_OK(MPI_Win_post(left, MPI_MODE_NOSTORE, win));
    if (test.rank % 2 == 0) usleep(3000);
    CHECK_OK(MPI_Win_start(right, 0, win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, MPI_REPLACE, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_INT(10 * left_rank() + round, memory[0]);
  }
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

/// MPI_MODE_NOCHECK: the posts have been made, and everybody knows.
void unchecked() {
  for (int round = 0; round < 5; ++round) {
    const int value = 70 * round + test.rank;
    CHECK_OK(MPI_Win_post(world, MPI_MODE_NOCHECK, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_start(world, MPI_MODE_NOCHECK, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    CHECK_OK(MPI_Win_wait(win));
    CHECK_INT(70 * round + left_rank(), memory[0]);
  }
}

/// Groups made from another communicator, whose ranks have another order.
void other_order() {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, test.ranks - test.rank, &reversed);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(reversed, &group);
  CHECK_OK(MPI_Win_post(group, 0, win));
  CHECK_OK(MPI_Win_start(group, 0, win));
  const int value = 5 + test.rank;
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_wait(win));
  CHECK_INT(5 + left_rank(), memory[0]);
  MPI_Group_free(&group);
  MPI_Comm_free(&reversed);
}

/// Two epochs of access to different targets while one of exposure is open.
void two_starts() {
  CHECK_OK(MPI_Win_post(world, 0, win));
  for (int rank = 0; rank < test.ranks; ++rank) {
    MPI_Group one = group_of({rank});
    CHECK_OK(MPI_Win_start(one, 0, win));
    const int value = 33 + test.rank;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, test.rank, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_complete(win));
    MPI_Group_free(&one);
  }
  CHECK_OK(MPI_Win_wait(win));
  for (int rank = 0; rank < test.ranks; ++rank)
    CHECK_INT(33 + rank, memory[static_cast<std::size_t>(rank)]);
}

/// Of several windows, each rank in turn is exposed to one other after the other, who all start at
/// once.
void several_windows() {
  std::array<MPI_Win, 3> windows{};
  std::array<int, 3> values{};
  for (std::size_t i = 0; i < windows.size(); ++i)
    CHECK_OK(MPI_Win_create(&values[i], sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &windows[i]));
  for (int target = 0; target < test.ranks; ++target) {
    if (test.rank != target) {
      MPI_Group one = group_of({target});
      for (const MPI_Win each : windows) CHECK_OK(MPI_Win_start(one, 0, each));
      for (std::size_t i = 0; i < windows.size(); ++i) {
        const int value = 10 * test.rank + static_cast<int>(i);
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, windows[i]));
        CHECK_OK(MPI_Win_complete(windows[i]));
      }
      MPI_Group_free(&one);
      continue;
    }
    for (int origin = test.ranks - 1; origin >= 0; --origin) {
      if (origin == target) continue;
      MPI_Group one = group_of({origin});
      for (std::size_t i = windows.size(); i-- > 0;) CHECK_OK(MPI_Win_post(one, 0, windows[i]));
      for (std::size_t i = 0; i < windows.size(); ++i) {
        CHECK_OK(MPI_Win_wait(windows[i]));
        CHECK_INT(10 * origin + static_cast<int>(i), values[i]);
      }
      MPI_Group_free(&one);
    }
  }
  for (MPI_Win& each : windows) CHECK_OK(MPI_Win_free(&each));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_pscw", &argc, &argv);
  memory.assign(static_cast<std::size_t>(test.ranks), 0);
  CHECK_OK(MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)),
                          sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const std::pair<const char*, void (*)()> cases[] = {
      {"a ring", ring},
      {"a star", star},
      {"empty groups", empty_groups},
      {"nothing done", nothing_done},
      {"MPI_Win_test", tested},
      {"late ranks", late},
      {"MPI_MODE_NOCHECK", unchecked},
      {"another order of ranks", other_order},
      {"several starts for a post", two_starts},
      {"several windows", several_windows},
  };
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Group_free(&world);
  CHECK_OK(MPI_Win_free(&win));
  return test_end();
}
