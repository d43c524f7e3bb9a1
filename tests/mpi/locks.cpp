// Passive targets: exclusive and shared locks, lock_all, flushes, assertions, MPI_PROC_NULL, and
// that nobody waits for ever [MPI-3.1, 11.5.3, 11.5.4].

#include "support.hpp"

namespace {

/// What an exclusive lock protects need not be atomic.
void exclusion(Flavor flavor) {
  Area<int> area(flavor, 2);
  const int rounds = test_scaled(60);
  for (int i = 0; i < rounds; ++i) {
    for (const int target : {0, test.ranks - 1}) {
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, area.win));
      std::array<int, 2> seen{};
      CHECK_OK(MPI_Get(seen.data(), 2, MPI_INT, target, area.at(target, 0), 2, MPI_INT, area.win));
      CHECK_OK(MPI_Win_flush(target, area.win));
      CHECK_INT(seen[0], -seen[1]);
      const std::array<int, 2> next = {seen[0] + 1, seen[1] - 1};
      CHECK_OK(MPI_Put(&next[0], 1, MPI_INT, target, area.at(target, 0), 1, MPI_INT, area.win));
      CHECK_OK(MPI_Put(&next[1], 1, MPI_INT, target, area.at(target, 1), 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_unlock(target, area.win));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int targets = test.ranks == 1 ? 2 : 1;
  if (test.rank == 0 || test.rank == test.ranks - 1)
    CHECK_INT(rounds * test.ranks * targets, area.base[0]);
}

/// Readers with shared locks see all of a writer's change or none of it; so does lock_all.
void readers_and_a_writer() {
  constexpr int n = 16;
  Area<int> area(Flavor::allocate, n);
  const int rounds = test_scaled(60);
  for (int i = 1; i <= rounds; ++i) {
    std::array<int, n> values{};
    if (test.rank == test.ranks - 1) {
      values.fill(i);
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win));
      for (int k = 0; k < n; ++k)
        CHECK_OK(
            MPI_Put(&values[static_cast<std::size_t>(k)], 1, MPI_INT, 0, k, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_unlock(0, area.win));
    } else {
      const bool all = i % 2 == 0;
      CHECK_OK(all ? MPI_Win_lock_all(0, area.win) : MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, area.win));
      for (int k = 0; k < n; ++k)
        CHECK_OK(
            MPI_Get(&values[static_cast<std::size_t>(k)], 1, MPI_INT, 0, k, 1, MPI_INT, area.win));
      CHECK_OK(all ? MPI_Win_unlock_all(area.win) : MPI_Win_unlock(0, area.win));
      for (const int value : values) CHECK_INT(values[0], value);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The target computes, and calls nothing of MPI: those who lock it go on.
void without_the_target() {
  Area<int> area(Flavor::allocate, 1);
  int* const done = area.base;
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) {
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, area.win));
    while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < test.ranks - 1) {
      CHECK_OK(MPI_Win_sync(area.win));
      usleep(100);
    }
    CHECK_OK(MPI_Win_unlock_all(area.win));
  } else {
    const int one = 1;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, area.win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, area.win));
    CHECK_OK(MPI_Win_unlock(0, area.win));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// After which call what is where.
void flushes(Flavor flavor) {
  Area<int> area(flavor, 4);
  const int target = right_rank();
  for (int round = 0; round < test_scaled(20); ++round) {
    int value = 100 * test.rank + round;
    int seen = -1;
    CHECK_OK(MPI_Win_lock_all(0, area.win));
    // flush_local: the origin's memory may change.
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, target, area.at(target, 0), 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush_local(target, area.win));
    value += 5000;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, target, area.at(target, 1), 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush_local_all(area.win));
    value = -1;
    // flush: it is at the target, for whoever looks.
    CHECK_OK(MPI_Win_flush(target, area.win));
    CHECK_OK(MPI_Win_flush_all(area.win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT, target, area.at(target, 0), 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush_local(target, area.win));  // a get is complete with its data
    CHECK_INT(100 * test.rank + round, seen);
    CHECK_OK(MPI_Get(&seen, 1, MPI_INT, target, area.at(target, 1), 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush_all(area.win));
    CHECK_INT(100 * test.rank + round + 5000, seen);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_sync(area.win));
    CHECK_INT(100 * left_rank() + round, area.base[0]);
    CHECK_INT(100 * left_rank() + round + 5000, area.base[1]);
    CHECK_OK(MPI_Win_unlock_all(area.win));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// The standard allows MPI_PROC_NULL in calls that move data; a lock of nobody is refused, or it is
/// one that holds nothing.
void nobody() {
  Area<int> area(Flavor::create, 1);
  for (const int type : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
    const int status = MPI_Win_lock(type, MPI_PROC_NULL, 0, area.win);
    CHECK_CLASS2(MPI_SUCCESS, MPI_ERR_RANK, status);
    if (status != MPI_SUCCESS) continue;
    const int value = 1;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush(MPI_PROC_NULL, area.win));
    CHECK_OK(MPI_Win_unlock(MPI_PROC_NULL, area.win));
  }
  CHECK_OK(MPI_Win_lock_all(0, area.win));  // nothing is open
  CHECK_OK(MPI_Win_unlock_all(area.win));
  CHECK_INT(0, area.base[0]);
}

/// MPI_MODE_NOCHECK: the program itself sees to it that no other lock is held.
void unchecked() {
  Area<int> area(Flavor::allocate, 1);
  for (int turn = 0; turn < test.ranks; ++turn) {
    if (turn == test.rank) {
      int seen = -1;
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, area.win));
      CHECK_OK(MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_flush(0, area.win));
      CHECK_INT(turn, seen);
      ++seen;
      CHECK_OK(MPI_Put(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_unlock(0, area.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, area.win));
  const int one = 1;
  CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, area.win));
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(2 * test.ranks, area.base[0]);
}

/// Locks of several targets at once, taken in one order and given back in another.
void several_targets() {
  Area<int> area(Flavor::allocate, 1);
  for (int round = 0; round < test_scaled(20); ++round) {
    for (int rank = 0; rank < test.ranks; ++rank)
      CHECK_OK(
          MPI_Win_lock(rank % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank, 0, area.win));
    const int one = 1;
    for (int rank = 0; rank < test.ranks; ++rank)
      CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, area.win));
    CHECK_OK(MPI_Win_flush_all(area.win));
    for (int rank = test.ranks - 1; rank >= 0; --rank) CHECK_OK(MPI_Win_unlock(rank, area.win));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_INT(test_scaled(20) * test.ranks, area.base[0]);
}

/// Locks of different windows have nothing to do with each other.
void several_windows() {
  Area<int> one(Flavor::allocate, 1);
  Area<int> two(Flavor::create, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, one.win));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);  // the others have had the lock of the other window
    CHECK_OK(MPI_Win_unlock(0, one.win));
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, two.win));
    CHECK_OK(MPI_Win_unlock(0, two.win));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, one.win));
  CHECK_OK(MPI_Win_unlock(0, one.win));
}

/// While many readers come and go, the writer gets its turn; and each of many writers does.
void fairness() {
  Area<long> area(Flavor::allocate, 2);
  const int turns = test_scaled(30);
  if (test.rank == 0) {
    for (int i = 0; i < turns; ++i) {
      CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win));
      ++area.base[0];
      CHECK_OK(MPI_Win_unlock(0, area.win));
    }
    const long stop = 1;
    for (int rank = 0; rank < test.ranks; ++rank) {
      CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, area.win));
      CHECK_OK(MPI_Accumulate(&stop, 1, MPI_LONG, rank, 1, 1, MPI_LONG, MPI_REPLACE, area.win));
      CHECK_OK(MPI_Win_unlock(rank, area.win));
    }
  } else {
    long stop = 0;
    long before = 0;
    while (stop == 0) {
      long seen = 0;
      CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, area.win));
      CHECK_OK(MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, area.win));
      CHECK_OK(MPI_Win_unlock(0, area.win));
      CHECK(seen >= before && seen <= turns);
      before = seen;
      CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, area.win));
      CHECK_OK(MPI_Fetch_and_op(nullptr, &stop, MPI_LONG, test.rank, 1, MPI_NO_OP, area.win));
      CHECK_OK(MPI_Win_unlock(test.rank, area.win));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(turns, area.base[0]);
}

/// A rank that has nothing more to do frees the window while others still lock it and each other:
/// it waits for them.
void early_end() {
  const int rounds = test_scaled(20);
  for (int round = 0; round < rounds; ++round) {
    int value = 0;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_create(&value, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    const int one = 1;
    for (int i = 0; test.rank != 0 && i < 3 * test.ranks; ++i) {
      const int target = (test.rank + i) % test.ranks;
      CHECK_OK(MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
      CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win));
      CHECK_OK(MPI_Win_unlock(target, win));
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_INT(3 * (test.ranks - 1), value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_locks", &argc, &argv);
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    if (flavor == Flavor::shared && !shares) continue;
    test_section("exclusion");
    exclusion(flavor);
    test_section("flushes");
    flushes(flavor);
  }
  const std::pair<const char*, void (*)()> cases[] = {
      {"readers and a writer", readers_and_a_writer},
      {"a target that computes", without_the_target},
      {"MPI_PROC_NULL", nobody},
      {"MPI_MODE_NOCHECK", unchecked},
      {"several targets", several_targets},
      {"several windows", several_windows},
      {"fairness", fairness},
      {"an early end", early_end},
  };
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
  }
  return test_end();
}
