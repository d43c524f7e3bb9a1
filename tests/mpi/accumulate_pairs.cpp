// MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE and MPI_NO_OP on the pair types [MPI-3.1, 5.9.4, 11.3.4]: the
// gaps within pairs are nobody's data.

#include "support.hpp"

namespace {

template <class V, class I>
struct Pair {
  V value;
  I index;
};

template <class P>
bool same(const P& one, const P& other) {
  return one.value == other.value && one.index == other.index;
}

template <class P>
P combined(MPI_Op op, const P& target, const P& origin) {
  if (op == MPI_REPLACE) return origin;
  if (op == MPI_NO_OP) return target;
  if (target.value == origin.value) return target.index < origin.index ? target : origin;
  const bool keeps = op == MPI_MINLOC ? target.value < origin.value : target.value > origin.value;
  return keeps ? target : origin;
}

constexpr std::size_t kPairs = 9;

template <class P>
P some_pair(int seed) {
  P pair;
  memset(&pair, 0x5a, sizeof(pair));  // the gap too
  pair.value = static_cast<decltype(pair.value)>(seed * 7 % 5 - 2);
  pair.index = static_cast<decltype(pair.index)>(seed % 100);
  return pair;
}

template <class P>
void check_operations(MPI_Datatype type, const char* name) {
  test_section(name);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  if (!CHECK_INT(sizeof(P), extent)) return;
  std::vector<P> memory(kPairs);
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(memory.data(), static_cast<MPI_Aint>(kPairs * sizeof(P)), sizeof(P),
                          MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  const int target = right_rank();
  const int source = left_rank();
  for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP}) {
    for (int call = 0; call < 3; ++call) {
      if (call == 0 && op == MPI_NO_OP) continue;
      std::array<P, kPairs> origin;
      std::array<P, kPairs> result;
      for (std::size_t i = 0; i < kPairs; ++i) {
        const int k = static_cast<int>(i);
        memory[i] = some_pair<P>(5 * test.rank + k);
        origin[i] = some_pair<P>(3 * test.rank + 2 * k + 1);
        result[i] = some_pair<P>(77);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Win_lock_all(0, win));
      if (call == 0)
        CHECK_OK(MPI_Accumulate(origin.data(), kPairs, type, target, 0, kPairs, type, op, win));
      if (call == 1)
        CHECK_OK(MPI_Get_accumulate(origin.data(), kPairs, type, result.data(), kPairs, type,
                                    target, 0, kPairs, type, op, win));
      for (std::size_t i = 0; call == 2 && i < kPairs; ++i)
        CHECK_OK(MPI_Fetch_and_op(&origin[i], &result[i], type, target, static_cast<MPI_Aint>(i),
                                  op, win));
      CHECK_OK(MPI_Win_unlock_all(win));
      MPI_Barrier(MPI_COMM_WORLD);
      for (std::size_t i = 0; i < kPairs; ++i) {
        const int k = static_cast<int>(i);
        const P expected =
            combined(op, some_pair<P>(5 * test.rank + k), some_pair<P>(3 * source + 2 * k + 1));
        CHECK(same(expected, memory[i]));
        if (call != 0) CHECK(same(some_pair<P>(5 * target + k), result[i]));
      }
    }
  }
  // Put and get move pairs as other data.
  std::array<P, kPairs> pairs;
  for (std::size_t i = 0; i < kPairs; ++i)
    pairs[i] = some_pair<P>(11 * test.rank + static_cast<int>(i));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(pairs.data(), kPairs, type, target, 0, kPairs, type, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Get(pairs.data(), kPairs, type, source, 0, kPairs, type, win));
  CHECK_OK(MPI_Win_fence(0, win));
  for (std::size_t i = 0; i < kPairs; ++i) {
    CHECK(same(some_pair<P>(11 * source + static_cast<int>(i)), memory[i]));
    CHECK(same(some_pair<P>(11 * left_rank(2) + static_cast<int>(i)), pairs[i]));
  }
  CHECK_OK(MPI_Win_free(&win));
}

/// The least of all ranks' values, and who has it.
void least_of_all() {
  test_section("the least of all");
  Pair<double, int> least{1e9, -1};
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(&least, sizeof(least), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  const Pair<double, int> mine{(test.rank + 1) % test.ranks + 0.5, test.rank};
  CHECK_OK(MPI_Win_fence(0, win));
  for (int rank = 0; rank < test.ranks; ++rank)
    CHECK_OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, rank, 0, 1, MPI_DOUBLE_INT, MPI_MINLOC, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_REAL(0.5, least.value);
  CHECK_INT(test.ranks - 1, least.index);
  CHECK_OK(MPI_Win_free(&win));
}

/// A derived type made of pairs, at both ends.
void derived() {
  test_section("pairs in derived types");
  using P = Pair<double, int>;
  std::array<P, 12> memory;
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = {0.0, 1000};
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(6, 1, 2, MPI_DOUBLE_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(memory.data(), sizeof(memory), sizeof(P), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &win));
  std::array<P, 12> origin;
  for (std::size_t i = 0; i < origin.size(); ++i)
    origin[i] = {static_cast<double>(i) - 4.0, test.rank};
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Accumulate(origin.data(), 1, every_other, right_rank(), 0, 1, every_other,
                          MPI_MAXLOC, win));
  CHECK_OK(MPI_Win_fence(0, win));
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const double value = static_cast<double>(i) - 4.0;
    const bool taken = i % 2 == 0 && value >= 0.0;  // equal values: the lower index
    CHECK_REAL(taken ? value : 0.0, memory[i].value);
    CHECK_INT(taken ? left_rank() : 1000, memory[i].index);
  }
  MPI_Type_free(&every_other);
  CHECK_OK(MPI_Win_free(&win));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_accumulate_pairs", &argc, &argv);
  check_operations<Pair<float, int>>(MPI_FLOAT_INT, "MPI_FLOAT_INT");
  check_operations<Pair<double, int>>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_operations<Pair<long, int>>(MPI_LONG_INT, "MPI_LONG_INT");
  check_operations<Pair<int, int>>(MPI_2INT, "MPI_2INT");
  check_operations<Pair<short, int>>(MPI_SHORT_INT, "MPI_SHORT_INT");
  check_operations<Pair<long double, int>>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT");
  if (MPI_2REAL != MPI_DATATYPE_NULL) {
    check_operations<Pair<float, float>>(MPI_2REAL, "MPI_2REAL");
    check_operations<Pair<double, double>>(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION");
    check_operations<Pair<int, int>>(MPI_2INTEGER, "MPI_2INTEGER");
  }
  least_of_all();
  derived();
  return test_end();
}
