// Dynamic windows: memory attached and detached, many pieces of it, addresses as displacements
// [MPI-3.1, 11.2.4].

#include "layout.hpp"

namespace {

MPI_Win make_window() {
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  return win;
}

MPI_Aint address_of(const void* memory) {
  MPI_Aint address = 0;
  MPI_Get_address(memory, &address);
  return address;
}

/// Every rank's addresses of the right neighbour's pieces.
std::vector<MPI_Aint> from_right(std::vector<MPI_Aint> mine) {
  std::vector<MPI_Aint> theirs(mine.size());
  const auto count = static_cast<int>(mine.size());
  MPI_Sendrecv(mine.data(), count, MPI_AINT, left_rank(), 0, theirs.data(), count, MPI_AINT,
               right_rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return theirs;
}

/// Pieces on the heap, on the stack, static: attached before and within an epoch.
void pieces() {
  MPI_Win win = make_window();
  static std::array<int, 4> fixed{};
  std::array<int, 4> local{};
  std::vector<int> heap(4, 0);
  int* const places[3] = {fixed.data(), local.data(), heap.data()};
  std::vector<MPI_Aint> mine;
  for (int* const place : places) {
    CHECK_OK(MPI_Win_attach(win, place, 4 * sizeof(int)));
    mine.push_back(address_of(place));
  }
  const std::vector<MPI_Aint> theirs = from_right(mine);
  for (const Epoch epoch : kEpochs) {
    const int value = 10 * static_cast<int>(epoch) + test.rank;
    const int one = 1;
    std::array<int, 3> seen{};
    in_epoch(epoch, win, right_rank(), [&] {
      for (std::size_t i = 0; i < 3; ++i) {
        const MPI_Aint third = MPI_Aint_add(theirs[i], 2 * sizeof(int));
        CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), third, 1, MPI_INT, win));
        CHECK_OK(
            MPI_Accumulate(&one, 1, MPI_INT, right_rank(), theirs[i], 1, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Fetch_and_op(&one, &seen[i], MPI_INT, right_rank(),
                                  MPI_Aint_add(theirs[i], sizeof(int)), MPI_SUM, win));
      }
    });
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK_INT(10 * static_cast<int>(epoch) + left_rank(), places[i][2]);
      CHECK_INT(static_cast<int>(epoch) + 1, places[i][0]);
      CHECK_INT(static_cast<int>(epoch) + 1, places[i][1]);
      CHECK_INT(static_cast<int>(epoch), seen[i]);
      CHECK_INT(0, places[i][3]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int* const place : places) CHECK_OK(MPI_Win_detach(win, place));
  CHECK_OK(MPI_Win_free(&win));
}

/// Hundreds at once, detached in another order, some attached again.
void hundreds() {
  const int count = 500;
  MPI_Win win = make_window();
  std::vector<std::vector<int>> memory;
  std::vector<MPI_Aint> mine;
  for (int i = 0; i < count; ++i) {
    memory.emplace_back(static_cast<std::size_t>(1 + i % 7), -1);
    CHECK_OK(MPI_Win_attach(win, memory.back().data(),
                            static_cast<MPI_Aint>(memory.back().size() * sizeof(int))));
    mine.push_back(address_of(memory.back().data()));
  }
  std::vector<MPI_Aint> theirs = from_right(mine);
  CHECK_OK(MPI_Win_lock_all(0, win));
  std::vector<int> values(count);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      values[k] = 1000 * round + 10000 * test.rank + i;
      CHECK_OK(MPI_Put(&values[k], 1, MPI_INT, right_rank(), theirs[k], 1, MPI_INT, win));
    }
    CHECK_OK(MPI_Win_flush_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      CHECK_INT(1000 * round + 10000 * left_rank() + i, memory[static_cast<std::size_t>(i)][0]);
    MPI_Barrier(MPI_COMM_WORLD);
    // Every third goes; and what comes in its place elsewhere is attached.
    for (int i = round; i < count; i += 3) {
      const auto k = static_cast<std::size_t>(i);
      CHECK_OK(MPI_Win_detach(win, memory[k].data()));
      std::vector<int> fresh(static_cast<std::size_t>(2 + i % 5), -1);
      memory[k].swap(fresh);
      CHECK_OK(MPI_Win_attach(win, memory[k].data(),
                              static_cast<MPI_Aint>(memory[k].size() * sizeof(int))));
      mine[k] = address_of(memory[k].data());
    }
    theirs = from_right(mine);
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  for (int i = count - 1; i >= 0; --i)
    CHECK_OK(MPI_Win_detach(win, memory[static_cast<std::size_t>(i)].data()));
  CHECK_OK(MPI_Win_free(&win));
}

/// A derived type that reaches over several attached regions by absolute addresses: MPI_BOTTOM's
/// counterpart at the target.
void scattered_target() {
  MPI_Win win = make_window();
  std::vector<int> one(3, -1);
  std::vector<int> two(5, -1);
  CHECK_OK(MPI_Win_attach(win, one.data(), 3 * sizeof(int)));
  CHECK_OK(MPI_Win_attach(win, two.data(), 5 * sizeof(int)));
  const std::vector<MPI_Aint> theirs = from_right({address_of(&one[1]), address_of(&two[2])});
  MPI_Datatype both = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(2, 2, theirs.data(), MPI_INT, &both);
  MPI_Type_commit(&both);
  const std::array<int, 4> values = {test.rank, test.rank + 100, test.rank + 200, test.rank + 300};
  in_epoch(Epoch::fence, win, 0,
           [&] { CHECK_OK(MPI_Put(values.data(), 4, MPI_INT, right_rank(), 0, 1, both, win)); });
  const int left = left_rank();
  CHECK_INT(-1, one[0]);
  CHECK_INT(left, one[1]);
  CHECK_INT(left + 100, one[2]);
  CHECK_INT(-1, two[1]);
  CHECK_INT(left + 200, two[2]);
  CHECK_INT(left + 300, two[3]);
  CHECK_INT(-1, two[4]);
  std::array<int, 4> got{};
  in_epoch(Epoch::lock_shared, win, right_rank(),
           [&] { CHECK_OK(MPI_Get(got.data(), 4, MPI_INT, right_rank(), 0, 1, both, win)); });
  for (std::size_t i = 0; i < 4; ++i) CHECK_INT(values[i], got[i]);
  in_epoch(Epoch::lock_all, win, right_rank(), [&] {
    CHECK_OK(MPI_Accumulate(values.data(), 4, MPI_INT, right_rank(), 0, 1, both, MPI_SUM, win));
  });
  CHECK_INT(2 * (left + 300), two[3]);
  MPI_Type_free(&both);
  CHECK_OK(MPI_Win_detach(win, one.data()));
  CHECK_OK(MPI_Win_detach(win, two.data()));
  CHECK_OK(MPI_Win_free(&win));
}

/// What is not attached is out of reach, and so is what was detached.
void errors() {
  MPI_Win win = make_window();
  std::vector<int> memory(16, 5);
  const std::vector<MPI_Aint> theirs = from_right({address_of(&memory[4])});
  const int value = 99;
  int got = -1;
  const auto check_out_of_reach = [&](MPI_Aint at) {
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, win));
    CHECK_CLASS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_INT, right_rank(), at, 1, MPI_INT, win));
    CHECK_CLASS(MPI_ERR_RMA_RANGE, MPI_Get(&got, 1, MPI_INT, right_rank(), at, 1, MPI_INT, win));
    CHECK_CLASS(MPI_ERR_RMA_RANGE,
                MPI_Fetch_and_op(&value, &got, MPI_INT, right_rank(), at, MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock(right_rank(), win));
    CHECK_INT(-1, got);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  check_out_of_reach(theirs[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_attach(win, &memory[4], 4 * sizeof(int)));
  MPI_Barrier(MPI_COMM_WORLD);
  check_out_of_reach(theirs[0] - 4);
  check_out_of_reach(theirs[0] + 16);
  check_out_of_reach(theirs[0] + 14);  // its last bytes are
  check_out_of_reach(0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_detach(win, &memory[4]));
  MPI_Barrier(MPI_COMM_WORLD);
  check_out_of_reach(theirs[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const int element : memory) CHECK_INT(5, element);
  CHECK_CLASS2(MPI_ERR_RMA_ATTACH, MPI_ERR_BASE, MPI_Win_detach(win, memory.data()));
  CHECK_CLASS2(MPI_ERR_SIZE, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory.data(), -8));
  // "attaching overlapping memory concurrently within the same window is erroneous"
  CHECK_OK(MPI_Win_attach(win, memory.data(), 8 * sizeof(int)));
  CHECK_CLASS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, &memory[4], 8 * sizeof(int)));
  CHECK_OK(MPI_Win_attach(win, &memory[8], 8 * sizeof(int)));  // beside it is not
  CHECK_OK(MPI_Win_detach(win, memory.data()));
  CHECK_OK(MPI_Win_detach(win, &memory[8]));
  CHECK_OK(MPI_Win_free(&win));
}

/// Memory without bytes is attached as any other, as often as one likes, and at an address where
/// there is some with bytes.
void without_bytes() {
  MPI_Win win = make_window();
  int memory = 5;
  const int value = 100 + test.rank;
  const std::vector<MPI_Aint> theirs = from_right({address_of(&memory)});
  for (void* const base : {static_cast<void*>(nullptr), static_cast<void*>(&memory)})
    for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Win_attach(win, base, 0));
  CHECK_OK(MPI_Win_attach(win, &memory, sizeof(memory)));
  CHECK_CLASS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, &memory, sizeof(memory)));
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(Epoch::lock_shared, win, right_rank(), [&] {
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), theirs[0], 1, MPI_INT, win));
  });
  CHECK_INT(100 + left_rank(), memory);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) CHECK_OK(MPI_Win_detach(win, &memory));
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Win_detach(win, nullptr));
  CHECK_CLASS2(MPI_ERR_RMA_ATTACH, MPI_ERR_BASE, MPI_Win_detach(win, &memory));
  CHECK_CLASS2(MPI_ERR_RMA_ATTACH, MPI_ERR_BASE, MPI_Win_detach(win, nullptr));
  CHECK_OK(MPI_Win_free(&win));
}

/// Two windows may have the same memory; and what is still attached at the end is let go.
void shared_memory_of_windows() {
  MPI_Win one = make_window();
  MPI_Win two = make_window();
  int value = 0;
  CHECK_OK(MPI_Win_attach(one, &value, sizeof(value)));
  CHECK_OK(MPI_Win_attach(two, &value, sizeof(value)));
  const std::vector<MPI_Aint> theirs = from_right({address_of(&value)});
  for (MPI_Win win : {one, two}) {
    const int add = 3;
    in_epoch(Epoch::lock_exclusive, win, right_rank(), [&] {
      CHECK_OK(MPI_Accumulate(&add, 1, MPI_INT, right_rank(), theirs[0], 1, MPI_INT, MPI_SUM, win));
    });
  }
  CHECK_INT(6, value);
  CHECK_OK(MPI_Win_free(&one));
  CHECK_OK(MPI_Win_free(&two));
}

/// A list in the memory of all ranks, whose nodes are attached as they are made.
void linked_list() {
  struct Node {
    int value;
    int next_rank;
    MPI_Aint next;
  };
  MPI_Win win = make_window();
  std::vector<Node> nodes(20);
  Node* const made = nodes.data();
  CHECK_OK(MPI_Win_attach(win, made, static_cast<MPI_Aint>(nodes.size() * sizeof(Node))));
  const std::vector<MPI_Aint> right = from_right({address_of(made)});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].value = 100 * test.rank + static_cast<int>(i);
    nodes[i].next_rank = right_rank();  // the same place at the right, and so around
    nodes[i].next = MPI_Aint_add(right[0], static_cast<MPI_Aint>(i * sizeof(Node)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, win));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[i];
    for (int step = 1; step <= test.ranks; ++step) {
      const int from = node.next_rank;
      CHECK_OK(
          MPI_Get(&node, sizeof(Node), MPI_BYTE, from, node.next, sizeof(Node), MPI_BYTE, win));
      CHECK_OK(MPI_Win_flush(from, win));
      CHECK_INT(100 * right_rank(step) + static_cast<int>(i), node.value);
    }
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_detach(win, made));
  CHECK_OK(MPI_Win_free(&win));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_dynamic", &argc, &argv);
  const std::pair<const char*, void (*)()> cases[] = {
      {"pieces", pieces},
      {"hundreds of regions", hundreds},
      {"a type over several regions", scattered_target},
      {"errors", errors},
      {"memory without bytes", without_bytes},
      {"memory of several windows", shared_memory_of_windows},
      {"a list", linked_list},
  };
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
  }
  return test_end();
}
