// Random nested datatypes, many elements, counts above one; types freed right after the call that
// uses them; absolute addresses.

#include <random>

#include "layout.hpp"

namespace {

using Random = std::mt19937;

int between(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// A type around `old`; grows both data and gaps.
Layout around(Random& random, const Layout& old) {
  switch (between(random, 0, 7)) {
    case 0:
      return contiguous(between(random, 1, 4), old);
    case 1:
      return vector(between(random, 1, 4), between(random, 1, 3), between(random, 3, 6), old);
    case 2:
      return hvector(between(random, 1, 3), 2, 8 * old.extent(), old);
    case 3: {
      const int second = between(random, 3, 9);
      return indexed({2, between(random, 0, 3)}, {second, second + 2}, old);
    }
    case 4:
      return indexed_block(2, {6, 0, 3}, old);
    case 5:
      return subarray({3, 4}, {2, between(random, 1, 3)}, {1, 1}, MPI_ORDER_C, old);
    case 6:
      return resized(old.lower, old.extent() + 8 * between(random, 0, 2), old);
    default:
      return structure({1, 2}, {0, 2 * old.extent()}, {old, old}, 5 * old.extent());
  }
}

/// Depths of 1 to 3, up to some thousand bytes; nothing below the address, no byte twice.
Layout random_layout(Random& random) {
  for (;;) {
    Layout made = around(random, basic(MPI_INT, 4));
    for (int depth = between(random, 0, 2); depth > 0; --depth) {
      Layout outer = around(random, made);
      free_layout(made);
      made = outer;
    }
    const bool usable = made.owned && !made.map.empty() && made.map.size() <= 300 &&
                        span_of(made, 2).first >= 0 && is_disjoint(made, 3);
    if (usable) {
      commit(made);
      return made;
    }
    free_layout(made);
  }
}

int value_of(int rank, std::size_t i) {
  return 100000 * (rank + 1) + static_cast<int>(i % 50000);
}

std::vector<int> values_of(int rank, std::size_t count) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  return values;
}

/// One operation each way; origin `n` of `mine`, target `m` of `theirs`, the same number of ints.
void transfer(const Layout& mine, int n, const Layout& theirs, int m, int call) {
  const auto read = elements(mine, n);
  const auto written = elements(theirs, m);
  CHECK_INT(read.size(), written.size());
  const auto room = static_cast<std::size_t>(
      std::max(span_of(mine, n).second, span_of(theirs, m).second) / 4 + 8);
  Area<int> area(call % 2 == 0 ? Flavor::allocate : Flavor::create, room);
  std::vector<int> expected = values_of(test.rank + 10, room);
  const std::vector<int> at_right = values_of(right_rank() + 10, room);
  std::copy(expected.begin(), expected.end(), area.base);
  const std::vector<int> origin = values_of(test.rank, room);
  const std::vector<int> from_left = values_of(left_rank(), room);
  std::vector<int> result(room, -1);
  std::vector<int> expected_result(room, -1);
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(kEpochs[static_cast<std::size_t>(call)], area.win, right_rank(), [&] {
    // The call takes what it needs: its types may go at once.
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype other = MPI_DATATYPE_NULL;
    MPI_Type_dup(mine.type, &type);
    MPI_Type_dup(theirs.type, &other);
    const int target = right_rank();
    switch (call) {
      case 0:
        CHECK_OK(MPI_Put(origin.data(), n, type, target, 0, m, other, area.win));
        break;
      case 1:
        CHECK_OK(MPI_Get(result.data(), n, type, target, 0, m, other, area.win));
        break;
      case 2:
        CHECK_OK(MPI_Accumulate(origin.data(), n, type, target, 0, m, other, MPI_SUM, area.win));
        break;
      default:
        CHECK_OK(MPI_Get_accumulate(origin.data(), n, type, result.data(), n, type, target, 0, m,
                                    other, call == 3 ? MPI_REPLACE : MPI_SUM, area.win));
    }
    MPI_Type_free(&type);
    MPI_Type_free(&other);
  });
  for (std::size_t i = 0; i < read.size(); ++i) {
    const auto there = static_cast<std::size_t>(written[i].first / 4);
    const auto here = static_cast<std::size_t>(read[i].first / 4);
    if (call == 0 || call == 3) expected[there] = from_left[here];
    if (call == 2 || call == 4) expected[there] += from_left[here];
    if (call == 1 || call > 2) expected_result[here] = at_right[there];
  }
  const bool equal = CHECK(std::equal(expected.begin(), expected.end(), area.base)) &&
                     CHECK(expected_result == result);
  if (!equal)
    fprintf(stderr, "  call %d: %d of %zu elements -> %d of %zu\n", call, n, mine.map.size(), m,
            theirs.map.size());
  MPI_Barrier(MPI_COMM_WORLD);
}

void random_types() {
  test_section("random types");
  Random random(20240611);  // the same at every rank
  const int rounds = test_scaled(60);
  for (int round = 0; round < rounds; ++round) {
    Layout mine = random_layout(random);
    Layout theirs = random_layout(random);
    const auto both = static_cast<int>(std::lcm(mine.map.size(), theirs.map.size()));
    const int times = both > 6000 ? 0 : between(random, 1, 3);
    const int n = times * both / static_cast<int>(mine.map.size());
    const int m = times * both / static_cast<int>(theirs.map.size());
    if (times > 0 && is_disjoint(mine, n) && is_disjoint(theirs, m))
      for (int call = 0; call < 5; ++call) transfer(mine, n, theirs, m, call);
    free_layout(mine);
    free_layout(theirs);
  }
}

/// Thousands of blocks in one type, on both sides.
void thousands() {
  test_section("thousands of elements");
  for (const int count : {256, 512, 4096, 20000}) {
    if (count > 4096 && test_scale() < 1) continue;
    std::vector<int> starts;
    for (int i = 0; i < count; ++i) starts.push_back(2 * i + i % 3 / 2);
    Layout scattered = indexed_block(1, starts, basic(MPI_INT, 4));
    Layout strided = vector(count, 1, 3, basic(MPI_INT, 4));
    commit(scattered);
    commit(strided);
    for (int call = 0; call < 5; ++call) {
      transfer(scattered, 1, strided, 1, call);
      transfer(strided, 1, strided, 1, call);
    }
    free_layout(scattered);
    free_layout(strided);
  }
}

/// MPI_BOTTOM and a type made of addresses, as origin and as result.
void absolute_origin() {
  test_section("MPI_BOTTOM as origin");
  Area<int> area(Flavor::allocate, 4);
  std::array<int, 3> first = {test.rank, 0, 10 + test.rank};
  std::vector<int> second(2, 20 + test.rank);
  std::vector<MPI_Aint> places(3);
  MPI_Get_address(&first[2], &places[0]);
  MPI_Get_address(&first[0], &places[1]);
  MPI_Get_address(second.data(), &places[2]);
  const std::array<int, 3> blocks = {1, 1, 2};
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(3, blocks.data(), places.data(), MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  in_epoch(Epoch::fence, area.win, 0, [&] {
    CHECK_OK(MPI_Put(MPI_BOTTOM, 1, absolute, right_rank(), 0, 4, MPI_INT, area.win));
  });
  const int left = left_rank();
  const std::array<int, 4> expected = {10 + left, left, 20 + left, 20 + left};
  for (std::size_t i = 0; i < 4; ++i) CHECK_INT(expected[i], area.base[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(Epoch::pscw, area.win, 0, [&] {
    CHECK_OK(
        MPI_Accumulate(MPI_BOTTOM, 1, absolute, right_rank(), 0, 4, MPI_INT, MPI_SUM, area.win));
  });
  for (std::size_t i = 0; i < 4; ++i) CHECK_INT(2 * expected[i], area.base[i]);
  in_epoch(Epoch::lock_shared, area.win, right_rank(), [&] {
    CHECK_OK(MPI_Get_accumulate(nullptr, 0, MPI_INT, MPI_BOTTOM, 1, absolute, right_rank(), 0, 4,
                                MPI_INT, MPI_NO_OP, area.win));
  });
  CHECK_INT(2 * (10 + test.rank), first[2]);
  CHECK_INT(2 * test.rank, first[0]);
  CHECK_INT(0, first[1]);
  CHECK_INT(2 * (20 + test.rank), second[1]);
  first = {};
  in_epoch(Epoch::lock_all, area.win, right_rank(), [&] {
    CHECK_OK(MPI_Get(MPI_BOTTOM, 1, absolute, right_rank(), 0, 4, MPI_INT, area.win));
  });
  CHECK_INT(2 * (10 + test.rank), first[2]);
  MPI_Type_free(&absolute);
}

/// A type that is freed and one that comes in its place, perhaps with its handle.
void handles_again() {
  test_section("handles of types that come again");
  Area<int> area(Flavor::allocate, 64);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int stride = 1; stride <= 20; ++stride) {
    Layout strided = vector(3, 1, stride, basic(MPI_INT, 4));
    commit(strided);
    const std::array<int, 3> sent = {stride, stride + 100, stride + 200};
    CHECK_OK(MPI_Put(sent.data(), 3, MPI_INT, right_rank(), 0, 1, strided.type, area.win));
    free_layout(strided);
    CHECK_OK(MPI_Win_flush(right_rank(), area.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) CHECK_INT(stride + 100 * i, area.base[i * stride]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_datatypes_random", &argc, &argv);
  random_types();
  thousands();
  absolute_origin();
  handles_again();
  return test_end();
}
