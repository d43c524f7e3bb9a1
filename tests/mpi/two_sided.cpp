// Messages and collectives next to windows: each goes on while a rank waits for the other.

#include "support.hpp"

namespace {

/// The target is in MPI_Recv until all that others do to its memory is done.
void target_in_receive() {
  Area<int> area(Flavor::allocate, static_cast<std::size_t>(test.ranks));
  if (test.ranks == 1) return;
  if (test.rank == 0) {
    for (int rank = 1; rank < test.ranks; ++rank) {
      int done = 0;
      MPI_Recv(&done, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_INT(rank, done);
    }
    CHECK_OK(MPI_Win_sync(area.win));
    for (int rank = 1; rank < test.ranks; ++rank) CHECK_INT(50 + rank, area.base[rank]);
  } else {
    const int value = 50 + test.rank;
    for (int round = 0; round < test_scaled(50); ++round) {
      CHECK_OK(MPI_Win_lock(round % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, area.win));
      CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, test.rank, 1, MPI_INT, area.win));
      CHECK_OK(MPI_Win_unlock(0, area.win));
    }
    MPI_Send(&test.rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A rank waits in a synchronization for one that first needs a large message of it to arrive.
void message_needed_first(int way) {
  constexpr int n = 1 << 20;  // does not fit into any queue: sending it takes both sides
  std::vector<int> sent(n, test.rank);
  std::vector<int> received(n, -1);
  Area<int> area(Flavor::allocate, 1);
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), n, MPI_INT, right_rank(), 2, MPI_COMM_WORLD, &send);
  // Even ranks synchronize first and receive then; odd ones receive first. With one kind of ranks
  // alone, or an odd number of them, all receive while the send is still open.
  const bool first = test.ranks % 2 == 1 || test.rank % 2 == 1;
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Irecv(received.data(), n, MPI_INT, left_rank(), 2, MPI_COMM_WORLD, &receive);
  if (first) CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  MPI_Group group = MPI_GROUP_NULL;
  CHECK_OK(MPI_Win_get_group(area.win, &group));
  if (way == 0) CHECK_OK(MPI_Win_fence(0, area.win));
  if (way == 1) {
    CHECK_OK(MPI_Win_post(group, 0, area.win));
    CHECK_OK(MPI_Win_start(group, 0, area.win));
    CHECK_OK(MPI_Win_complete(area.win));
    CHECK_OK(MPI_Win_wait(area.win));
  }
  if (way == 2) {
    CHECK_OK(MPI_Win_post(group, 0, area.win));
    CHECK_OK(MPI_Win_start(group, 0, area.win));
    CHECK_OK(MPI_Win_complete(area.win));
    int flag = 0;
    while (flag == 0) CHECK_OK(MPI_Win_test(area.win, &flag));
  }
  MPI_Group_free(&group);
  if (!first) CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK_INT(left_rank(), received[0]);
  CHECK_INT(left_rank(), received[n - 1]);
}

/// A rank waits for a lock whose holder waits for that rank's message.
void holder_needs_a_message() {
  constexpr int n = 1 << 20;
  if (test.ranks < 2) return;
  Area<int> area(Flavor::allocate, 1);
  std::vector<int> data(n, test.rank);
  MPI_Request send = MPI_REQUEST_NULL;
  if (test.rank == 0) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rank = 1; rank < test.ranks; ++rank) {
      usleep(2000);
      MPI_Recv(data.data(), n, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_INT(rank, data[n / 2]);
    }
    CHECK_OK(MPI_Win_unlock(0, area.win));
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(data.data(), n, MPI_INT, 0, 4, MPI_COMM_WORLD, &send);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, area.win));
    CHECK_OK(MPI_Win_unlock(0, area.win));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Collectives within epochs of every kind.
void collectives_within(Epoch epoch) {
  Area<int> area(Flavor::create, 2);
  in_epoch(epoch, area.win, right_rank(), [&] {
    const int value = test.rank * 3;
    CHECK_OK(
        MPI_Put(&value, 1, MPI_INT, right_rank(), area.at(right_rank(), 0), 1, MPI_INT, area.win));
    int sum = 0;
    MPI_Allreduce(&test.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(test.ranks * (test.ranks - 1) / 2, sum);
    int root = test.rank;
    MPI_Bcast(&root, 1, MPI_INT, test.ranks - 1, MPI_COMM_WORLD);
    CHECK_INT(test.ranks - 1, root);
    CHECK_OK(
        MPI_Put(&root, 1, MPI_INT, right_rank(), area.at(right_rank(), 1), 1, MPI_INT, area.win));
  });
  CHECK_INT(3 * left_rank(), area.base[0]);
  CHECK_INT(test.ranks - 1, area.base[1]);
}

/// Halo exchange where what is sent comes out of the window, and what is put came in a message.
void through_both() {
  constexpr int n = 5000;
  Area<double> area(Flavor::allocate, n);
  std::vector<double> moved(n);
  for (int i = 0; i < n; ++i) area.base[i] = test.rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < test_scaled(20); ++round) {
    MPI_Sendrecv(area.base, n, MPI_DOUBLE, right_rank(), 6, moved.data(), n, MPI_DOUBLE,
                 left_rank(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_REAL(left_rank(), moved[0]);
    in_epoch(round % 2 == 0 ? Epoch::fence : Epoch::pscw, area.win, left_rank(), [&] {
      CHECK_OK(MPI_Put(moved.data(), n, MPI_DOUBLE, left_rank(), 0, n, MPI_DOUBLE, area.win));
    });
    for (int i = 0; i < n; i += 499) CHECK_REAL(test.rank, area.base[i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Nonblocking collectives go on beside.
void nonblocking_collectives() {
  Area<int> area(Flavor::allocate, 1);
  for (int round = 0; round < test_scaled(20); ++round) {
    int sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&test.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    in_epoch(Epoch::lock_all, area.win, 0, [&] {
      const int one = 1;
      MPI_Request mine[2] = {request, MPI_REQUEST_NULL};
      CHECK_OK(MPI_Raccumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, area.win, &mine[1]));
      CHECK_OK(MPI_Waitall(2, mine, MPI_STATUSES_IGNORE));
    });
    CHECK_INT(test.ranks * (test.ranks - 1) / 2, sum);
  }
  if (test.rank == 0) CHECK_INT(test_scaled(20) * test.ranks, area.base[0]);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Persistent requests, and messages that are probed for.
void other_messages() {
  Area<int> area(Flavor::allocate, 1);
  int out = 0;
  int in = -1;
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Send_init(&out, 1, MPI_INT, right_rank(), 8, MPI_COMM_WORLD, &both[0]);
  MPI_Recv_init(&in, 1, MPI_INT, left_rank(), 8, MPI_COMM_WORLD, &both[1]);
  for (int round = 0; round < test_scaled(20); ++round) {
    out = 10 * round + test.rank;
    MPI_Startall(2, both);
    CHECK_OK(MPI_Win_fence(0, area.win));
    CHECK_OK(MPI_Put(&out, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, area.win));
    CHECK_OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Win_fence(0, area.win));
    CHECK(both[0] != MPI_REQUEST_NULL);
    CHECK_INT(10 * round + left_rank(), in);
    CHECK_INT(in, area.base[0]);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Isend(&out, 1, MPI_INT, right_rank(), 9, MPI_COMM_WORLD, &send);
  MPI_Status status;
  MPI_Probe(left_rank(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK_INT(9, status.MPI_TAG);
  MPI_Recv(&in, 1, MPI_INT, left_rank(), 9, MPI_COMM_WORLD, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_two_sided", &argc, &argv);
  test_section("a target in MPI_Recv");
  target_in_receive();
  test_section("a message is needed first");
  for (const int way : {0, 1, 2}) message_needed_first(way);
  test_section("a lock's holder needs a message");
  holder_needs_a_message();
  for (const Epoch epoch : kEpochs) {
    test_section("collectives in epochs");
    collectives_within(epoch);
  }
  test_section("through windows and messages");
  through_both();
  test_section("collectives that do not block");
  nonblocking_collectives();
  test_section("other messages");
  other_messages();
  return test_end();
}
