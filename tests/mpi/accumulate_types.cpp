// Every predefined operation on every predefined type that it has a meaning for, by each of the
// calls that take an operation [MPI-3.1, 11.3.4, 5.9.2].

#include "operations.hpp"

namespace {

enum class Call { accumulate, get_accumulate, fetch_and_op, raccumulate, rget_accumulate };
constexpr std::array kCalls = {Call::accumulate, Call::get_accumulate, Call::fetch_and_op,
                               Call::raccumulate, Call::rget_accumulate};
constexpr std::size_t kElements = 7;

template <class T>
struct Values {
  std::array<T, kElements> origin, result, before;
};

template <class T>
void carry_out(Call call, MPI_Op op, MPI_Datatype type, int target, Values<T>& values,
               MPI_Win win) {
  constexpr int n = kElements;
  MPI_Request request = MPI_REQUEST_NULL;
  auto* const origin = values.origin.data();
  auto* const result = values.result.data();
  switch (call) {
    case Call::accumulate:
      CHECK_OK(MPI_Accumulate(origin, n, type, target, 0, n, type, op, win));
      break;
    case Call::get_accumulate:
      CHECK_OK(MPI_Get_accumulate(origin, n, type, result, n, type, target, 0, n, type, op, win));
      break;
    case Call::fetch_and_op:
      for (int i = 0; i < n; ++i)
        CHECK_OK(MPI_Fetch_and_op(origin + i, result + i, type, target, i, op, win));
      break;
    case Call::raccumulate:
      CHECK_OK(MPI_Raccumulate(origin, n, type, target, 0, n, type, op, win, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      break;
    case Call::rget_accumulate:
      CHECK_OK(MPI_Rget_accumulate(origin, n, type, result, n, type, target, 0, n, type, op, win,
                                   &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      break;
  }
}

template <class T>
void check(Call call, const Operation& operation, MPI_Datatype type, const char* name, Kind kind,
           Area<T>& area) {
  static std::array<char, 128> section{};
  snprintf(section.data(), section.size(), "%s on %s, call %d", operation.name, name,
           static_cast<int>(call));
  test_section(section.data());
  const bool fetches =
      call == Call::get_accumulate || call == Call::fetch_and_op || call == Call::rget_accumulate;
  if (!fetches && operation.op == MPI_NO_OP) return;  // only calls that fetch may have it
  const int target = right_rank();
  const int source = left_rank();
  Values<T> values{};
  const auto origin_of = [&](int rank, int i) { return some_value<T>(kind, 3 * rank + 5 * i + 1); };
  const auto before_of = [&](int rank, int i) { return some_value<T>(kind, 2 * rank + 3 * i + 4); };
  for (int i = 0; i < static_cast<int>(kElements); ++i) {
    const auto k = static_cast<std::size_t>(i);
    values.origin[k] = origin_of(test.rank, i);
    area.base[k] = before_of(test.rank, i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, area.win));
  carry_out(call, operation.op, type, target, values, area.win);
  CHECK_OK(MPI_Win_unlock(target, area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < static_cast<int>(kElements); ++i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK(area.base[k] == combined<T>(operation.op, before_of(test.rank, i), origin_of(source, i)));
    if (fetches) CHECK(values.result[k] == before_of(target, i));
  }
}

/// Contributions of all ranks to one rank meet there.
template <class T>
void all_to_one(MPI_Datatype type, const Operation& operation, Kind kind, Area<T>& area) {
  for (std::size_t i = 0; i < kElements; ++i) area.base[i] = some_value<T>(kind, 1);
  std::array<T, kElements> mine{};
  mine.fill(some_value<T>(kind, test.rank + 2));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_fence(0, area.win));
  CHECK_OK(
      MPI_Accumulate(mine.data(), kElements, type, 0, 0, kElements, type, operation.op, area.win));
  CHECK_OK(MPI_Win_fence(0, area.win));
  if (test.rank == 0) {
    T expected = some_value<T>(kind, 1);
    for (int rank = 0; rank < test.ranks; ++rank)
      expected = combined<T>(operation.op, expected, some_value<T>(kind, rank + 2));
    for (std::size_t i = 0; i < kElements; ++i) {
      if (operation.op == MPI_REPLACE) {  // somebody's
        bool found = false;
        for (int rank = 0; rank < test.ranks; ++rank)
          found = found || area.base[i] == some_value<T>(kind, rank + 2);
        CHECK(found);
      } else {
        CHECK(area.base[i] == expected);
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_accumulate_types", &argc, &argv);
  for_each_type([](MPI_Datatype type, const char* name, Kind kind, auto zero) {
    using T = decltype(zero);
    if (type == MPI_DATATYPE_NULL) return;  // an MPI without Fortran
    int size = 0;
    MPI_Type_size(type, &size);
    if (!CHECK_INT(sizeof(T), size)) return;
    Area<T> area(Flavor::allocate, kElements);
    for (const Operation& operation : operations()) {
      if (!has_meaning(operation, kind)) continue;
      for (const Call call : kCalls) check<T>(call, operation, type, name, kind, area);
      if (operation.op != MPI_NO_OP) all_to_one<T>(type, operation, kind, area);
    }
  });
  return test_end();
}
