// MPI_Compare_and_swap and MPI_Fetch_and_op: what they return and change, on every type that they
// may have, and at once by all ranks [MPI-3.1, 11.3.4].

#include "operations.hpp"

namespace {

template <class T>
void swap_one(MPI_Datatype type, const char* name, Kind kind) {
  test_section(name);
  Area<T> area(Flavor::allocate, 5);
  const int target = right_rank();
  // Slot 2, so that the neighbours of a small element are checked as well.
  const auto value = [&](int seed) { return some_value<T>(kind, seed); };
  for (const Epoch epoch : kEpochs) {
    const T old = value(3);
    const T fresh = value(7);
    for (int i = 0; i < 5; ++i) area.base[i] = old;
    T compare = old;
    T found = fresh;
    MPI_Barrier(MPI_COMM_WORLD);
    in_epoch(epoch, area.win, target, [&] {
      CHECK_OK(MPI_Compare_and_swap(&fresh, &compare, &found, type, target, 2, area.win));
    });
    CHECK(found == old);
    CHECK(area.base[1] == old && area.base[2] == fresh && area.base[3] == old);
    MPI_Barrier(MPI_COMM_WORLD);
    // It is not what it is compared with any more.
    compare = old;
    const T other = value(4);
    in_epoch(epoch, area.win, target, [&] {
      CHECK_OK(MPI_Compare_and_swap(&other, &compare, &found, type, target, 2, area.win));
    });
    CHECK(found == fresh);
    const T expected = old == fresh ? other : fresh;  // logicals have few values
    CHECK(area.base[2] == expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void on_every_type() {
  for_each_type([](MPI_Datatype type, const char* name, Kind kind, auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      if (type != MPI_DATATYPE_NULL && kind != Kind::character) swap_one<T>(type, name, kind);
    }
  });
}

/// Each value from 0 up is taken by one rank.
void tickets(Flavor flavor) {
  Area<int> area(flavor, 1);
  const int rounds = test_scaled(300);
  std::vector<int> taken(static_cast<std::size_t>(rounds * test.ranks), 0);
  const int one = 1;
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  int before = -1;
  for (int i = 0; i < rounds; ++i) {
    int ticket = -1;
    CHECK_OK(MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, area.at(0, 0), MPI_SUM, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    if (!CHECK(ticket > before && ticket < rounds * test.ranks)) break;
    before = ticket;
    taken[static_cast<std::size_t>(ticket)] = 1;
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Allreduce(MPI_IN_PLACE, taken.data(), static_cast<int>(taken.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  for (const int times : taken) CHECK_INT(1, times);
}

/// Numbers that change by swaps alone, by those who saw the last.
void counter_by_swaps() {
  Area<long> area(Flavor::create, 1);
  const int rounds = test_scaled(100);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int i = 0; i < rounds; ++i) {
    long seen = 0;
    for (;;) {
      const long next = seen + 1;
      long found = -1;
      CHECK_OK(MPI_Compare_and_swap(&next, &seen, &found, MPI_LONG, 0, 0, area.win));
      CHECK_OK(MPI_Win_flush(0, area.win));
      if (found == seen) break;
      seen = found;
    }
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(rounds * test.ranks, area.base[0]);
}

/// A lock made of swaps protects what is not atomic.
void lock_by_swaps() {
  Area<int> area(Flavor::allocate, 2);
  const int rounds = test_scaled(50);
  const int free_word = 0;
  const int held = test.rank + 1;
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int i = 0; i < rounds; ++i) {
    int found = -1;
    while (found != free_word) {
      CHECK_OK(MPI_Compare_and_swap(&held, &free_word, &found, MPI_INT, 0, 0, area.win));
      CHECK_OK(MPI_Win_flush(0, area.win));
    }
    int value = 0;
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    ++value;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    CHECK_OK(MPI_Compare_and_swap(&free_word, &held, &found, MPI_INT, 0, 0, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    CHECK_INT(held, found);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(rounds * test.ranks, area.base[1]);
}

/// MPI_NO_OP reads atomically and needs no origin.
void atomic_read() {
  Area<std::int64_t> area(Flavor::allocate, 1);
  const int rounds = test_scaled(500);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  const std::int64_t both = 0x0000000100000001;
  for (int i = 0; i < rounds; ++i) {
    std::int64_t seen = -1;
    CHECK_OK(MPI_Fetch_and_op(nullptr, &seen, MPI_INT64_T, 0, 0, MPI_NO_OP, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    CHECK_INT(seen >> 32, seen & 0xffffffff);
    CHECK_OK(MPI_Get_accumulate(nullptr, 0, MPI_DATATYPE_NULL, &seen, 1, MPI_INT64_T, 0, 0, 1,
                                MPI_INT64_T, MPI_NO_OP, area.win));
    CHECK_OK(MPI_Accumulate(&both, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    CHECK_INT(seen >> 32, seen & 0xffffffff);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) CHECK_INT(both * rounds * test.ranks, area.base[0]);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_compare_and_swap", &argc, &argv);
  on_every_type();
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    test_section("tickets");
    if (flavor != Flavor::shared || shares) tickets(flavor);
  }
  test_section("a counter by swaps");
  counter_by_swaps();
  test_section("a lock by swaps");
  lock_by_swaps();
  test_section("atomic reads");
  atomic_read();
  return test_end();
}
