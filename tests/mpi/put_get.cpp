// Put, get and their request forms: every flavor of window, every kind of epoch, displacement units
// that differ, no bytes at all [MPI-3.1, 11.3].

#include "support.hpp"

namespace {

constexpr int kCount = 32;

/// Everybody puts to a neighbour and gets from it, at all distances.
void around(Flavor flavor, Epoch epoch) {
  Area<int> area(flavor, 2 * kCount);
  for (int distance = 0; distance < test.ranks; ++distance) {
    const int target = right_rank(distance);
    std::array<int, kCount> sent{};
    std::array<int, kCount> got{};
    for (int i = 0; i < kCount; ++i) {
      sent[static_cast<std::size_t>(i)] = 1000 * test.rank + 100 * distance + i;
      area.base[kCount + i] = -test.rank - i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    in_epoch(epoch, area.win, target, [&] {
      CHECK_OK(MPI_Put(sent.data(), kCount, MPI_INT, target, area.at(target, 0), kCount, MPI_INT,
                       area.win));
      CHECK_OK(MPI_Get(got.data(), kCount, MPI_INT, target, area.at(target, kCount), kCount,
                       MPI_INT, area.win));
    });
    const int source = left_rank(distance);
    for (int i = 0; i < kCount; ++i) {
      CHECK_INT(1000 * source + 100 * distance + i, area.base[i]);
      CHECK_INT(-target - i, got[static_cast<std::size_t>(i)]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void request_forms(Flavor flavor, Epoch epoch) {
  Area<int> area(flavor, 2 * kCount);
  const int target = right_rank();
  std::array<int, kCount> got{};
  for (int i = 0; i < kCount; ++i) area.base[kCount + i] = 7 * test.rank + i;
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(epoch, area.win, target, [&] {
    std::array<MPI_Request, kCount> requests{};
    std::array<int, kCount> sent{};
    for (int i = 0; i < kCount; ++i) {
      const auto k = static_cast<std::size_t>(i);
      sent[k] = 50 * test.rank + i;
      CHECK_OK(MPI_Rput(&sent[k], 1, MPI_INT, target, area.at(target, k), 1, MPI_INT, area.win,
                        &requests[k]));
      CHECK(requests[k] != MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Waitall(kCount, requests.data(), MPI_STATUSES_IGNORE));
    for (const MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    sent.fill(-1);  // its value went before
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Rget(got.data(), kCount, MPI_INT, target, area.at(target, kCount), kCount, MPI_INT,
                      area.win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < kCount; ++i)  // a get's data is there with the request
      CHECK_INT(7 * target + i, got[static_cast<std::size_t>(i)]);
  });
  for (int i = 0; i < kCount; ++i) CHECK_INT(50 * left_rank() + i, area.base[i]);
}

/// Each rank counts displacements in units of its own; the target's counts.
void units() {
  const int unit = 1 + 2 * test.rank;
  std::vector<unsigned char> memory(1024, 0);
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size()), unit, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &win));
  for (int distance = 0; distance < test.ranks; ++distance) {
    const int target = right_rank(distance);
    const auto value = static_cast<unsigned char>(1 + test.rank + 16 * distance);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(
        MPI_Put(&value, 1, MPI_UNSIGNED_CHAR, target, 5 + 8 * distance, 1, MPI_UNSIGNED_CHAR, win));
    CHECK_OK(MPI_Win_fence(0, win));
    const int at = (5 + 8 * distance) * unit;
    CHECK_INT(1 + left_rank(distance) + 16 * distance, memory[static_cast<std::size_t>(at)]);
  }
  int set = 0;
  for (const unsigned char byte : memory) set += byte != 0;
  CHECK_INT(test.ranks, set);
  CHECK_OK(MPI_Win_free(&win));
}

/// No elements: no effect, whatever the addresses; at the very end of the window too.
void nothing(Epoch epoch) {
  Area<int> area(Flavor::allocate, 4);
  for (int i = 0; i < 4; ++i) area.base[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);
  const int target = right_rank();
  in_epoch(epoch, area.win, target, [&] {
    CHECK_OK(MPI_Put(nullptr, 0, MPI_INT, target, 0, 0, MPI_INT, area.win));
    CHECK_OK(MPI_Get(nullptr, 0, MPI_INT, target, 4, 0, MPI_INT, area.win));
    CHECK_OK(MPI_Accumulate(nullptr, 0, MPI_INT, target, 0, 0, MPI_INT, MPI_SUM, area.win));
    CHECK_OK(MPI_Get_accumulate(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, target, 0, 0, MPI_INT,
                                MPI_SUM, area.win));
    if (is_passive(epoch)) {
      std::array<MPI_Request, 4> requests{};
      CHECK_OK(MPI_Rput(nullptr, 0, MPI_INT, target, 0, 0, MPI_INT, area.win, &requests[0]));
      CHECK_OK(MPI_Rget(nullptr, 0, MPI_INT, target, 0, 0, MPI_INT, area.win, &requests[1]));
      CHECK_OK(MPI_Raccumulate(nullptr, 0, MPI_INT, target, 0, 0, MPI_INT, MPI_SUM, area.win,
                               &requests[2]));
      CHECK_OK(MPI_Rget_accumulate(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, target, 0, 0, MPI_INT,
                                   MPI_SUM, area.win, &requests[3]));
      CHECK_OK(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE));
    }
  });
  for (int i = 0; i < 4; ++i) CHECK_INT(i, area.base[i]);
}

/// MPI_PROC_NULL is a target for every operation, and none of them does anything.
void to_nobody(Epoch epoch) {
  Area<int> area(Flavor::create, 2);
  const int value = 9;
  int got = -2;
  in_epoch(epoch, area.win, right_rank(), [&] {
    MPI_Win win = area.win;
    constexpr int nobody = MPI_PROC_NULL;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, nobody, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, nobody, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Accumulate(&value, 1, MPI_INT, nobody, 0, 1, MPI_INT, MPI_SUM, win));
    CHECK_OK(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, nobody, 0, 1, MPI_INT,
                                MPI_SUM, win));
    CHECK_OK(MPI_Fetch_and_op(&value, &got, MPI_INT, nobody, 0, MPI_SUM, win));
    CHECK_OK(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, nobody, 0, win));
    if (is_passive(epoch)) {
      std::array<MPI_Request, 4> requests{};
      CHECK_OK(MPI_Rput(&value, 1, MPI_INT, nobody, 0, 1, MPI_INT, win, &requests[0]));
      CHECK_OK(MPI_Rget(&got, 1, MPI_INT, nobody, 0, 1, MPI_INT, win, &requests[1]));
      CHECK_OK(
          MPI_Raccumulate(&value, 1, MPI_INT, nobody, 0, 1, MPI_INT, MPI_SUM, win, &requests[2]));
      CHECK_OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, nobody, 0, 1, MPI_INT,
                                   MPI_SUM, win, &requests[3]));
      CHECK_OK(MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE));
    }
  });
  CHECK_INT(-2, got);
  CHECK_INT(0, area.base[0]);
}

/// Origin and target in the same window's memory of this very rank.
void within_oneself() {
  Area<int> area(Flavor::allocate, 64);
  for (int i = 0; i < 64; ++i) area.base[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(Epoch::lock_exclusive, area.win, test.rank, [&] {
    CHECK_OK(MPI_Put(area.base, 16, MPI_INT, test.rank, 32, 16, MPI_INT, area.win));
    CHECK_OK(MPI_Win_flush(test.rank, area.win));
    CHECK_OK(MPI_Get(area.base + 48, 16, MPI_INT, test.rank, 32, 16, MPI_INT, area.win));
  });
  for (int i = 0; i < 16; ++i) {
    CHECK_INT(i, area.base[32 + i]);
    CHECK_INT(i, area.base[48 + i]);
  }
}

/// Sizes around every threshold that an implementation may have, at odd offsets.
void sizes() {
  constexpr std::size_t kBytes = 600000;
  Area<unsigned char> area(Flavor::allocate, kBytes + 16);
  std::vector<unsigned char> sent(kBytes + 16);
  std::vector<unsigned char> got(kBytes + 16);
  for (const std::size_t bytes :
       {1UL,   2UL,    3UL,    7UL,    8UL,    9UL,    63UL,    64UL,    65UL,     127UL,
        255UL, 1023UL, 4095UL, 4096UL, 4097UL, 8191UL, 65535UL, 65537UL, 262145UL, kBytes}) {
    for (std::size_t i = 0; i < bytes; ++i)
      sent[i + 3] = static_cast<unsigned char>(i * 7 + bytes + static_cast<std::size_t>(test.rank));
    const int target = right_rank();
    const auto count = static_cast<int>(bytes);
    in_epoch(Epoch::lock_all, area.win, target, [&] {
      CHECK_OK(MPI_Put(&sent[3], count, MPI_BYTE, target, 5, count, MPI_BYTE, area.win));
      CHECK_OK(MPI_Win_flush(target, area.win));
      CHECK_OK(MPI_Get(&got[1], count, MPI_BYTE, target, 5, count, MPI_BYTE, area.win));
    });
    CHECK(std::memcmp(&sent[3], &got[1], bytes) == 0);
    CHECK_INT(0, area.base[4]);
  }
  CHECK_INT(0, area.base[kBytes + 5]);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_put_get", &argc, &argv);
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    if (flavor == Flavor::shared && !shares) continue;
    for (const Epoch epoch : kEpochs) {
      test_section("around");
      around(flavor, epoch);
      test_section("request forms");
      if (is_passive(epoch)) request_forms(flavor, epoch);
    }
  }
  test_section("units of displacement");
  units();
  for (const Epoch epoch : kEpochs) {
    test_section("no elements");
    nothing(epoch);
    test_section("MPI_PROC_NULL");
    to_nobody(epoch);
  }
  test_section("within a rank");
  within_oneself();
  test_section("sizes");
  sizes();
  return test_end();
}
