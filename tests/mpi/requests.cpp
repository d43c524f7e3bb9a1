// Requests of Rput, Rget, Raccumulate, Rget_accumulate in all the calls that complete requests,
// alone and mixed with those of messages [MPI-3.1, 11.3.5, 3.7].

#include <algorithm>

#include "support.hpp"

namespace {

constexpr int kOps = 4;

/// Four requests of operations and two of messages, in the order 0 recv, 1-4 operations, 5 send.
struct Mixed {
  Mixed(const Area<int>& area, int round) : number(round) {
    const int target = right_rank();
    value = 100 * test.rank + round;
    MPI_Irecv(&received, 1, MPI_INT, left_rank(), round, MPI_COMM_WORLD, &requests[0]);
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT, target, area.at(target, 0), 1, MPI_INT, area.win,
                      &requests[1]));
    CHECK_OK(
        MPI_Rget(&got, 1, MPI_INT, target, area.at(target, 1), 1, MPI_INT, area.win, &requests[2]));
    CHECK_OK(MPI_Raccumulate(&one, 1, MPI_INT, target, area.at(target, 2), 1, MPI_INT, MPI_SUM,
                             area.win, &requests[3]));
    CHECK_OK(MPI_Rget_accumulate(&one, 1, MPI_INT, &fetched, 1, MPI_INT, target, area.at(target, 3),
                                 1, MPI_INT, MPI_SUM, area.win, &requests[4]));
    MPI_Isend(&value, 1, MPI_INT, target, round, MPI_COMM_WORLD, &requests[5]);
  }
  /// All have completed, and the window's are flushed.
  void check(const Area<int>& area) const {
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(100 * left_rank() + number, received);
    CHECK_INT(-7, got);
    CHECK_INT(number, fetched);
    CHECK_OK(MPI_Win_flush_all(area.win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(100 * left_rank() + number, area.base[0]);
    CHECK_INT(number + 1, area.base[2]);
    CHECK_INT(number + 1, area.base[3]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static constexpr int size = kOps + 2;
  int number;
  int value = 0, received = -1, got = -1, fetched = -1;
  int one = 1;
  std::array<MPI_Request, size> requests{};
};

void complete(int way, Mixed& mixed) {
  constexpr int n = Mixed::size;
  MPI_Request* const requests = mixed.requests.data();
  std::array<MPI_Status, n> statuses{};
  std::array<int, n> indices{};
  int index = 0;
  int flag = 0;
  int done = 0;
  int outcount = 0;
  switch (way) {
    case 0:
      for (int i = n - 1; i >= 0; --i) CHECK_OK(MPI_Wait(&requests[i], &statuses[0]));
      break;
    case 1:
      CHECK_OK(MPI_Waitall(n, requests, statuses.data()));
      CHECK_INT(left_rank(), statuses[0].MPI_SOURCE);
      CHECK_INT(mixed.number, statuses[0].MPI_TAG);
      break;
    case 2:
      CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
      break;
    case 3:
      for (int i = 0; i < n; ++i) {
        CHECK_OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index >= 0 && index < n);
      }
      CHECK_OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
      CHECK_INT(MPI_UNDEFINED, index);
      break;
    case 4:
      while (done < n) {
        CHECK_OK(MPI_Waitsome(n, requests, &outcount, indices.data(), statuses.data()));
        if (!CHECK(outcount >= 1 && outcount <= n - done)) break;
        done += outcount;
      }
      break;
    case 5:
      for (int i = 0; i < n; ++i)
        for (flag = 0; flag == 0;) CHECK_OK(MPI_Test(&requests[i], &flag, &statuses[0]));
      break;
    case 6:
      while (flag == 0) CHECK_OK(MPI_Testall(n, requests, &flag, statuses.data()));
      break;
    case 7:
      while (done < n) {
        CHECK_OK(MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE));
        if (flag != 0 && CHECK(index != MPI_UNDEFINED)) ++done;
      }
      break;
    case 8:
      while (done < n) {
        CHECK_OK(MPI_Testsome(n, requests, &outcount, indices.data(), MPI_STATUSES_IGNORE));
        if (outcount > 0) done += outcount;
      }
      break;
    default:
      // It tells whether a request has completed, and lets it be.
      for (int i = 0; i < n; ++i) {
        for (flag = 0; flag == 0;)
          CHECK_OK(MPI_Request_get_status(requests[i], &flag, &statuses[0]));
        CHECK(requests[i] != MPI_REQUEST_NULL);
        CHECK_OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
      }
  }
}

void all_ways(Flavor flavor) {
  Area<int> area(flavor, 4);
  area.base[1] = -7;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int round = 0; round < 20; ++round) {
    Mixed mixed(area, round);
    complete(round % 10, mixed);
    mixed.check(area);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

/// A request may be freed; what it stood for completes with the flush. It may also be complete, and
/// waited for, after the epoch.
void freed_and_late() {
  Area<int> area(Flavor::allocate, 2);
  const int target = right_rank();
  const int value = 60 + test.rank;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, area.win));
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, area.win, &request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, target, 1, 1, MPI_INT, area.win, &request));
  CHECK_OK(MPI_Win_unlock(target, area.win));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_INT(60 + left_rank(), area.base[0]);
  CHECK_INT(60 + left_rank(), area.base[1]);
}

/// The status of such a request: no error, and nothing cancelled.
void statuses() {
  Area<int> area(Flavor::allocate, 1);
  const int value = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  memset(&status, 0x55, sizeof(status));
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, area.win, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  int cancelled = 1;
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK_INT(0, cancelled);
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

/// More of them than any table holds, of every size.
void many() {
  constexpr int n = 3000;
  Area<int> area(Flavor::allocate, n);
  std::vector<MPI_Request> requests(n, MPI_REQUEST_NULL);
  std::vector<int> sent(n);
  std::vector<int> got(n, -1);
  const int target = right_rank();
  for (int i = 0; i < n; ++i) sent[static_cast<std::size_t>(i)] = n * test.rank + i;
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK_OK(MPI_Rput(&sent[k], 1, MPI_INT, target, i, 1, MPI_INT, area.win, &requests[k]));
  }
  CHECK_OK(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Win_flush(target, area.win));
  for (int i = n - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK_OK(MPI_Rget(&got[k], 1, MPI_INT, target, i, 1, MPI_INT, area.win, &requests[k]));
  }
  CHECK_OK(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE));
  CHECK(got == sent);
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

/// Requests that are still open when a message is waited for that others send only later.
void next_to_messages() {
  constexpr int n = 10000;
  Area<int> area(Flavor::create, n);
  std::vector<int> sent(n, test.rank);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int round = 0; round < 5; ++round) {
    std::array<MPI_Request, 3> requests{};
    int token = -1;
    CHECK_OK(MPI_Rput(sent.data(), n, MPI_INT, right_rank(), area.at(right_rank(), 0), n, MPI_INT,
                      area.win, &requests[0]));
    MPI_Irecv(&token, 1, MPI_INT, right_rank(), 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Request& send = requests[2];
    MPI_Isend(&test.rank, 1, MPI_INT, left_rank(), 9, MPI_COMM_WORLD, &send);
    CHECK_OK(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE));
    CHECK_INT(right_rank(), token);
    CHECK_OK(MPI_Win_flush_all(area.win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(left_rank(), area.base[n - 1]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

/// To nobody, or of nothing: requests all the same.
void of_nothing() {
  Area<int> area(Flavor::allocate, 1);
  std::array<MPI_Request, 6> requests{};
  int value = 7;
  int got = -1;
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  CHECK_OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, area.win, &requests[0]));
  CHECK_OK(MPI_Rget(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, area.win, &requests[1]));
  CHECK_OK(MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, area.win,
                           &requests[2]));
  CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT,
                               MPI_SUM, area.win, &requests[3]));
  CHECK_OK(MPI_Rput(&value, 0, MPI_INT, 0, 0, 0, MPI_INT, area.win, &requests[4]));
  CHECK_OK(MPI_Rget_accumulate(&value, 0, MPI_INT, &got, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_SUM,
                               area.win, &requests[5]));
  for (const MPI_Request request : requests) CHECK(request != MPI_REQUEST_NULL);
  CHECK_OK(MPI_Waitall(6, requests.data(), MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Win_unlock_all(area.win));
  CHECK_INT(-1, got);
  CHECK_INT(0, area.base[0]);
}

/// Persistent requests and a collective's among them; inactive ones do not count.
void among_others() {
  Area<int> area(Flavor::allocate, 1);
  const int right = right_rank();
  int received = -1;
  int value = 0;
  std::array<MPI_Request, 4> requests{};
  MPI_Send_init(&test.rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&received, 1, MPI_INT, left_rank(), 1, MPI_COMM_WORLD, &requests[1]);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  const auto put = [&] {
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, area.win, &requests[2]));
  };
  for (value = 0; value < 10; ++value) {
    received = -1;
    MPI_Startall(2, requests.data());
    put();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
    CHECK_OK(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE));
    CHECK_INT(left_rank(), received);
    CHECK(requests[0] != MPI_REQUEST_NULL);
    CHECK(requests[2] == MPI_REQUEST_NULL);
  }
  int index = -1;
  int flag = 0;
  std::array<int, 4> indices{};
  put();
  CHECK_OK(MPI_Waitany(4, requests.data(), &index, MPI_STATUS_IGNORE));
  CHECK_INT(2, index);
  put();
  CHECK_OK(MPI_Waitsome(4, requests.data(), &index, indices.data(), MPI_STATUSES_IGNORE));
  CHECK_INT(1, index);
  CHECK_INT(2, indices[0]);
  CHECK_OK(MPI_Testany(4, requests.data(), &index, &flag, MPI_STATUS_IGNORE));
  CHECK(flag != 0);
  CHECK_INT(MPI_UNDEFINED, index);
  // What a flush has completed is complete at the first look.
  put();
  CHECK_OK(MPI_Win_flush_all(area.win));
  CHECK_OK(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE));
  CHECK(flag != 0);
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/// Waited for when the window has gone.
void after_the_window() {
  constexpr int n = 200000;
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const std::vector<int> sent(n, test.rank);
  std::vector<int> got(n, -1);
  std::array<MPI_Request, 2> requests{};
  CHECK_OK(MPI_Win_allocate(2 * n * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &win));
  std::fill(base, base + 2 * n, 100 + test.rank);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Rput(sent.data(), n, MPI_INT, right_rank(), 0, n, MPI_INT, win, &requests[0]));
  CHECK_OK(MPI_Rget(got.data(), n, MPI_INT, right_rank(), n, n, MPI_INT, win, &requests[1]));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  CHECK_INT(100 + right_rank(), got[n - 1]);
}

/// Completed at the origin: its buffers may be used again, and the target gets what was in them.
void buffers() {
  const int most = test_scaled(250000);
  Area<int> area(Flavor::create, static_cast<std::size_t>(most));
  std::vector<int> origin(static_cast<std::size_t>(most));
  const int right = right_rank();
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int way = 0; way < 4; ++way)
    for (const int count : {1, 100, 5000, most}) {
      if (count > most) continue;
      for (int i = 0; i < count; ++i) origin[static_cast<std::size_t>(i)] = i + way;
      std::fill(area.base, area.base + count, 0);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Request request = MPI_REQUEST_NULL;
      if (way == 0)
        CHECK_OK(
            MPI_Rput(origin.data(), count, MPI_INT, right, 0, count, MPI_INT, area.win, &request));
      else if (way == 1)
        CHECK_OK(MPI_Raccumulate(origin.data(), count, MPI_INT, right, 0, count, MPI_INT, MPI_SUM,
                                 area.win, &request));
      else if (way == 2)
        CHECK_OK(MPI_Put(origin.data(), count, MPI_INT, right, 0, count, MPI_INT, area.win));
      else
        CHECK_OK(MPI_Accumulate(origin.data(), count, MPI_INT, right, 0, count, MPI_INT,
                                MPI_REPLACE, area.win));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Win_flush_local(right, area.win));
      std::fill(origin.begin(), origin.end(), -9);
      CHECK_OK(MPI_Win_flush(right, area.win));
      MPI_Barrier(MPI_COMM_WORLD);
      int wrong = 0;
      for (int i = 0; i < count; ++i) wrong += area.base[i] != i + way;
      CHECK_INT(0, wrong);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_requests", &argc, &argv);
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    test_section("all ways to complete");
    if (flavor != Flavor::shared || shares) all_ways(flavor);
  }
  test_section("freed and late");
  freed_and_late();
  test_section("statuses");
  statuses();
  test_section("many requests");
  many();
  test_section("next to messages");
  next_to_messages();
  test_section("requests of nothing");
  of_nothing();
  test_section("among others");
  among_others();
  test_section("after the window");
  after_the_window();
  test_section("buffers that are used again");
  buffers();
  return test_end();
}
