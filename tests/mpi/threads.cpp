// MPI_THREAD_MULTIPLE: threads with windows of their own, and threads that share one.

#include <thread>

#include "support.hpp"

namespace {

constexpr int kThreads = 3;

template <class Work>
void on_threads(Work&& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

/// Each thread has a communicator, on which it makes, uses and frees a window: collective calls of
/// different threads at once.
void windows_of_their_own() {
  std::array<MPI_Comm, kThreads> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  on_threads([&](int thread) {
    MPI_Comm comm = comms[static_cast<std::size_t>(thread)];
    for (int round = 0; round < test_scaled(10); ++round) {
      int* base = nullptr;
      MPI_Win win = MPI_WIN_NULL;
      CHECK_OK(MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
      base[0] = base[1] = 0;
      const int value = 1000 * thread + 10 * round + test.rank;
      CHECK_OK(MPI_Win_fence(0, win));
      CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
      CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
      CHECK_INT(1000 * thread + 10 * round + left_rank(), base[0]);
      const int one = 1;
      for (int i = 0; i < 20; ++i) {
        CHECK_OK(
            MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right_rank(), 0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Win_unlock(right_rank(), win));
      }
      MPI_Barrier(comm);
      CHECK_INT(20, base[1]);
      CHECK_OK(MPI_Win_free(&win));
    }
  });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// All threads in one epoch of lock_all, each with elements of its own, and one that all share.
void one_window() {
  Area<int> area(Flavor::allocate, kThreads + 1);
  const int rounds = test_scaled(200);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  on_threads([&](int thread) {
    const int one = 1;
    int last = 0;
    for (int i = 1; i <= rounds; ++i) {
      CHECK_OK(MPI_Put(&i, 1, MPI_INT, right_rank(), thread, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_flush(right_rank(), area.win));
      CHECK_OK(MPI_Get(&last, 1, MPI_INT, right_rank(), thread, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_flush(right_rank(), area.win));
      CHECK_INT(i, last);
      CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, kThreads, 1, MPI_INT, MPI_SUM, area.win));
    }
  });
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(rounds * kThreads * test.ranks, area.base[kThreads]);
  for (int i = 0; i < kThreads; ++i) CHECK_INT(rounds, area.base[i]);
}

/// Threads lock targets of their own in one window.
void targets_of_their_own() {
  Area<int> area(Flavor::create, kThreads);
  const int rounds = test_scaled(50);
  on_threads([&](int thread) {
    const int one = 1;
    // Without enough ranks for all, some threads have none.
    for (int target = thread; target < test.ranks; target += kThreads)
      for (int i = 0; i < rounds; ++i) {
        CHECK_OK(
            MPI_Win_lock(i % 3 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, area.win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, target, thread, 1, MPI_INT, MPI_SUM, area.win));
        CHECK_OK(MPI_Win_unlock(target, area.win));
      }
  });
  MPI_Barrier(MPI_COMM_WORLD);
  for (int thread = 0; thread < kThreads; ++thread) {
    const bool mine = test.rank % kThreads == thread;
    CHECK_INT(mine ? rounds * test.ranks : 0, area.base[thread]);
  }
}

/// Requests of several threads, waited for by those and by others.
void requests() {
  Area<int> area(Flavor::allocate, 100 * kThreads);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  std::array<std::vector<MPI_Request>, kThreads> open;
  std::vector<int> values(100 * kThreads);
  on_threads([&](int thread) {
    auto& mine = open[static_cast<std::size_t>(thread)];
    for (int i = 0; i < 100; ++i) {
      const int slot = 100 * thread + i;
      values[static_cast<std::size_t>(slot)] = 7 * slot + test.rank;
      MPI_Request request = MPI_REQUEST_NULL;
      CHECK_OK(MPI_Rput(&values[static_cast<std::size_t>(slot)], 1, MPI_INT, right_rank(), slot, 1,
                        MPI_INT, area.win, &request));
      if (i % 2 == 0)
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      else
        mine.push_back(request);
    }
  });
  on_threads([&](int thread) {
    auto& others = open[static_cast<std::size_t>((thread + 1) % kThreads)];
    CHECK_OK(MPI_Waitall(static_cast<int>(others.size()), others.data(), MPI_STATUSES_IGNORE));
  });
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int slot = 0; slot < 100 * kThreads; ++slot)
    CHECK_INT(7 * slot + left_rank(), area.base[slot]);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// One thread waits in a synchronization, another for messages.
void messages_beside() {
  Area<int> area(Flavor::allocate, 1);
  std::thread messages([] {
    for (int round = 0; round < test_scaled(50); ++round) {
      int in = -1;
      MPI_Sendrecv(&round, 1, MPI_INT, right_rank(), 77, &in, 1, MPI_INT, left_rank(), 77,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_INT(round, in);
    }
  });
  for (int round = 0; round < test_scaled(50); ++round) {
    const int value = round + test.rank;
    CHECK_OK(MPI_Win_fence(0, area.win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_fence(0, area.win));
    CHECK_INT(round + left_rank(), area.base[0]);
  }
  messages.join();
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin_threads("mpi_threads", &argc, &argv, MPI_THREAD_MULTIPLE);
  test_section("windows of their own");
  windows_of_their_own();
  test_section("one window");
  one_window();
  test_section("targets of their own");
  targets_of_their_own();
  test_section("requests");
  requests();
  test_section("messages beside");
  messages_beside();
  return test_end();
}
