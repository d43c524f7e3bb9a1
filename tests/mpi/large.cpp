// Large transfers: some 100 MB in one call, and a window beyond 2 GiB, of which few pages are used.

#include "support.hpp"

namespace {

unsigned char byte_of(std::size_t i, int salt) {
  return static_cast<unsigned char>((i >> 12) * 31 + i + static_cast<std::size_t>(salt));
}

/// One pair of ranks: the first and the last.
void one_call(std::size_t bytes, Flavor flavor) {
  const int target = test.ranks - 1;
  const std::size_t part = test.rank == target ? bytes : 1;
  Area<unsigned char> area(flavor, part);
  const auto count = static_cast<int>(bytes);
  if (test.rank == 0) {
    std::vector<unsigned char> sent(bytes);
    std::vector<unsigned char> got(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = byte_of(i, 1);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, area.win));
    CHECK_OK(MPI_Put(sent.data(), count, MPI_BYTE, target, area.at(target, 0), count, MPI_BYTE,
                     area.win));
    CHECK_OK(MPI_Win_flush(target, area.win));
    CHECK_OK(MPI_Get(got.data(), count, MPI_BYTE, target, area.at(target, 0), count, MPI_BYTE,
                     area.win));
    CHECK_OK(MPI_Win_unlock(target, area.win));
    CHECK(got == sent);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == target) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += area.base[i] != byte_of(i, 1);
    CHECK_INT(0, wrong);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The same with long strides on one side, and sums.
void strided_and_summed(int elements) {
  const int target = test.ranks - 1;
  const auto room = static_cast<std::size_t>(test.rank == target ? 3 * elements : 1);
  Area<int> area(Flavor::allocate, room);
  if (test.rank == 0) {
    std::vector<int> values(static_cast<std::size_t>(elements));
    for (int i = 0; i < elements; ++i) values[static_cast<std::size_t>(i)] = i;
    MPI_Datatype strided = MPI_DATATYPE_NULL;
    MPI_Type_vector(elements, 1, 3, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, area.win));
    CHECK_OK(MPI_Put(values.data(), elements, MPI_INT, target, 0, 1, strided, area.win));
    CHECK_OK(MPI_Win_flush(target, area.win));
    CHECK_OK(
        MPI_Accumulate(values.data(), elements, MPI_INT, target, 0, 1, strided, MPI_SUM, area.win));
    CHECK_OK(MPI_Win_unlock(target, area.win));
    MPI_Type_free(&strided);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == target) {
    long wrong = 0;
    for (int i = 0; i < elements; ++i)
      wrong += area.base[3 * i] != 2 * i || area.base[3 * i + 1] != 0 || area.base[3 * i + 2] != 0;
    CHECK_INT(0, wrong);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Displacements beyond what 31 and 32 bits hold, in bytes and in large units.
void far_displacements(MPI_Aint bytes) {
  for (const int unit : {1, 4096}) {
    const MPI_Aint mine = test.rank == 0 ? bytes : 0;
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_allocate(mine, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI_Aint* told = nullptr;
    int flag = 0;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &told, &flag));
    CHECK_INT(mine, *told);
    // The last pages, one for each rank.
    const MPI_Aint at = bytes - 4096 * static_cast<MPI_Aint>(1 + test.rank);
    const long value = 1234567 + test.rank;
    long seen = -1;
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_LONG, 0, at / unit, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_OK(MPI_Get(&seen, 1, MPI_LONG, 0, at / unit, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_INT(value, seen);
    CHECK_CLASS2(MPI_ERR_RMA_RANGE, MPI_ERR_DISP,
                 MPI_Put(&value, 1, MPI_LONG, 0, bytes / unit, 1, MPI_LONG, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0)
      for (int rank = 0; rank < test.ranks; ++rank) {
        long there = 0;
        memcpy(&there, base + bytes - 4096 * static_cast<MPI_Aint>(1 + rank), sizeof(there));
        CHECK_INT(1234567 + rank, there);
      }
    CHECK_OK(MPI_Win_free(&win));
  }
}

/// Types whose extent is far beyond that of any buffer's data.
void wide_types() {
  constexpr MPI_Aint kFar = MPI_Aint{3} << 30;
  Area<int> area(Flavor::create, 1);
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, kFar, &wide);
  MPI_Type_commit(&wide);
  const int value = 5 + test.rank;
  in_epoch(Epoch::fence, area.win, 0,
           [&] { CHECK_OK(MPI_Put(&value, 1, wide, right_rank(), 0, 1, wide, area.win)); });
  CHECK_INT(5 + left_rank(), area.base[0]);
  in_epoch(Epoch::lock_all, area.win, 0, [&] {
    CHECK_CLASS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 2, wide, area.win));
  });
  MPI_Type_free(&wide);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_large", &argc, &argv);
  const double scale = test_scale();
  test_section("one call");
  one_call(static_cast<std::size_t>(100e6 * scale) + 13, Flavor::allocate);
  one_call(static_cast<std::size_t>(20e6 * scale) + 13, Flavor::create);
  one_call(static_cast<std::size_t>(20e6 * scale) + 13, Flavor::dynamic);
  test_section("strided and summed");
  strided_and_summed(test_scaled(1000000));
  test_section("far displacements");
  far_displacements(scale < 1 ? MPI_Aint{1} << 22 : (MPI_Aint{5} << 30));
  test_section("wide types");
  wide_types();
  return test_end();
}
