// Accumulates whose origin, result and target are laid out each by a datatype of its own: the n-th
// element of one meets the n-th of the others [MPI-3.1, 11.3.4].

#include "layout.hpp"
#include "operations.hpp"

namespace {

constexpr int kElements = 12;          // of each layout
constexpr std::size_t kRoom = 80;      // elements of every buffer
constexpr std::size_t kAddress = 30;   // where in it the address points: some layouts go below
constexpr std::size_t kUntouched = 1;  // salt of what no operation may change

/// Layouts of the same number of elements, and how many of each that takes.
struct Repeated {
  Layout layout;
  int count;
};

std::vector<Repeated> layouts_of(const Layout& e) {
  const MPI_Aint x = e.extent();
  std::vector<Repeated> all;
  all.push_back({contiguous(kElements, e), 1});
  all.push_back({contiguous(1, e), kElements});
  all.push_back({duplicate(e), kElements});
  all.push_back({resized(0, 3 * x, e), kElements});
  all.push_back({resized(0, -2 * x, e), kElements});  // each before the last
  all.push_back({vector(3, 2, 3, e), 2});
  all.push_back({hvector(4, 1, -x * 2, e), 3});
  all.push_back({hindexed_block(3, {9 * x, -8 * x}, e), 2});
  all.push_back({subarray({4, 5}, {3, 2}, {1, 2}, MPI_ORDER_FORTRAN, e), 2});
  all.push_back({darray(2, {4, 6}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                        {1, MPI_DISTRIBUTE_DFLT_DARG}, {2, 2}, MPI_ORDER_C, e),
                 2});
  Layout tight = resized(0, x, vector(2, 1, 4, e));
  all.push_back({vector(3, 1, 5, tight), 2});  // interleaved
  free_layout(tight);
  for (Repeated& one : all) {
    commit(one.layout);
    CHECK(is_disjoint(one.layout, one.count));
    CHECK_INT(kElements, elements(one.layout, one.count).size());
  }
  return all;
}

template <class T>
using Room = std::array<T, kRoom>;

template <class T>
Room<T> filled(Kind kind, int salt) {
  Room<T> room;
  for (std::size_t i = 0; i < kRoom; ++i)
    room[i] = some_value<T>(kind, 5 * salt + 3 * static_cast<int>(i));
  return room;
}

/// The elements' numbers in a buffer, in their order.
template <class T>
std::vector<std::size_t> numbers(const Repeated& of) {
  std::vector<std::size_t> all;
  for (const auto& [at, size] : elements(of.layout, of.count))
    all.push_back(kAddress + static_cast<std::size_t>(at / static_cast<MPI_Aint>(sizeof(T))));
  return all;
}

struct Case {
  const Repeated& origin;
  const Repeated& result;
  const Repeated& target;
  MPI_Op op;
  bool fetches;
  bool has_request;
};

template <class T>
void carry_out(const Case& c, T* origin, T* result, MPI_Win win) {
  const int to = right_rank();
  const auto at = static_cast<MPI_Aint>(kAddress);
  MPI_Datatype const from = c.origin.layout.type;
  MPI_Datatype const into = c.result.layout.type;
  MPI_Datatype const there = c.target.layout.type;
  const int n = c.origin.count;
  const int r = c.result.count;
  const int t = c.target.count;
  MPI_Request request = MPI_REQUEST_NULL;
  if (c.fetches && c.has_request)
    CHECK_OK(MPI_Rget_accumulate(origin, n, from, result, r, into, to, at, t, there, c.op, win,
                                 &request));
  else if (c.fetches)
    CHECK_OK(MPI_Get_accumulate(origin, n, from, result, r, into, to, at, t, there, c.op, win));
  else if (c.has_request)
    CHECK_OK(MPI_Raccumulate(origin, n, from, to, at, t, there, c.op, win, &request));
  else
    CHECK_OK(MPI_Accumulate(origin, n, from, to, at, t, there, c.op, win));
  if (c.has_request) CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

template <class T>
bool check(const Case& c, Kind kind, Area<T>& area) {
  const Room<T> mine = filled<T>(kind, test.rank + 20);
  Room<T> origin = mine;
  Room<T> result = filled<T>(kind, kUntouched);
  Room<T> window = filled<T>(kind, test.rank);
  std::copy(window.begin(), window.end(), area.base);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool reads_origin = c.op != MPI_NO_OP;
  carry_out(c, reads_origin ? &origin[kAddress] : nullptr, &result[kAddress], area.win);
  CHECK_OK(MPI_Win_flush(right_rank(), area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  const Room<T> from_left = filled<T>(kind, left_rank() + 20);
  const Room<T> at_right = filled<T>(kind, right_rank());
  Room<T> expected = filled<T>(kind, kUntouched);
  const auto read = numbers<T>(c.origin);
  const auto written = numbers<T>(c.target);
  const auto fetched = numbers<T>(c.result);
  for (std::size_t i = 0; i < kElements; ++i) {
    window[written[i]] = combined<T>(c.op, window[written[i]], from_left[read[i]]);
    if (c.fetches) expected[fetched[i]] = at_right[written[i]];
  }
  const bool holds = CHECK(std::equal(window.begin(), window.end(), area.base)) &&
                     CHECK(result == expected) && CHECK(origin == mine);
  MPI_Barrier(MPI_COMM_WORLD);
  return holds;
}

/// Each layout in each place, beside two others that change with it.
template <class T>
void every_layout(MPI_Datatype type, const char* name, Kind kind, Flavor flavor) {
  test_section(name);
  Area<T> area(flavor, kRoom);
  std::vector<Repeated> all = layouts_of(basic(type, sizeof(T)));
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t other = (2 * i + 5 * k + 1) % all.size();
      const MPI_Op op = operations()[(i + k) % operations().size()].op;
      for (int way = 0; way < 4; ++way) {
        Case c{all[i], all[other], all[k], op, way % 2 == 1, way >= 2};
        if (!has_meaning(operations()[(i + k) % operations().size()], kind)) c.op = MPI_REPLACE;
        if (c.op == MPI_NO_OP && !c.fetches) continue;
        if (!check<T>(c, kind, area))
          fprintf(stderr, "  %s: layouts %zu, %zu -> %zu, way %d\n", name, i, other, k, way);
      }
    }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  for (Repeated& one : all) free_layout(one.layout);
}

/// Pairs with a gap, of which result and target skip some.
void pairs() {
  test_section("pairs");
  struct Pair {
    double value;
    int index;
  };
  constexpr int n = 5;
  std::array<Pair, n> origin;
  std::array<Pair, 2 * n> result;
  Area<Pair> area(Flavor::allocate, 3 * n);
  const auto value = [](int rank, int i) { return (rank * 7 + i * 5) % 4 + 0.5; };
  for (int i = 0; i < n; ++i) origin[static_cast<std::size_t>(i)] = {value(test.rank, i), i};
  for (Pair& pair : result) pair = {-1.0, -1};
  for (int i = 0; i < 3 * n; ++i) area.base[i] = {1.5, 100 + i};
  MPI_Datatype twice = MPI_DATATYPE_NULL;
  MPI_Datatype thrice = MPI_DATATYPE_NULL;
  MPI_Type_vector(n, 1, 2, MPI_DOUBLE_INT, &twice);
  MPI_Type_create_resized(MPI_DOUBLE_INT, 0, 3 * sizeof(Pair), &thrice);
  MPI_Type_commit(&twice);
  MPI_Type_commit(&thrice);
  in_epoch(Epoch::fence, area.win, right_rank(), [&] {
    CHECK_OK(MPI_Get_accumulate(origin.data(), n, MPI_DOUBLE_INT, result.data(), 1, twice,
                                right_rank(), 0, n, thrice, MPI_MAXLOC, area.win));
  });
  for (int i = 0; i < 3 * n; ++i) {
    const double came = value(left_rank(), i / 3);
    const bool taken = i % 3 == 0 && came >= 1.5;  // equal values: the lower index
    CHECK_REAL(taken ? came : 1.5, area.base[i].value);
    CHECK_INT(taken ? i / 3 : 100 + i, area.base[i].index);
  }
  for (int i = 0; i < 2 * n; ++i) {
    const Pair& found = result[static_cast<std::size_t>(i)];
    CHECK_REAL(i % 2 == 0 ? 1.5 : -1.0, found.value);
    CHECK_INT(i % 2 == 0 ? 100 + 3 * (i / 2) : -1, found.index);
  }
  MPI_Type_free(&twice);
  MPI_Type_free(&thrice);
}

/// Basic types that differ are an error by the standard. Where nothing is combined, MPI
/// implementations move the bytes, and programs that have bytes on one side alone run.
void unlike_types() {
  test_section("unlike types");
  constexpr int n = 6;
  Area<int> area(Flavor::allocate, 2 * n);
  std::array<int, n> values{};
  std::array<unsigned char, 2 * n * sizeof(int)> spread{};
  std::array<char, n * sizeof(int)> result{};
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = 0x1020304 * (i + 1) + test.rank;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < sizeof(values); ++i) spread[2 * i] = bytes[i];
  for (int i = 0; i < 2 * n; ++i) area.base[i] = 100 * test.rank + i;
  MPI_Datatype seconds = MPI_DATATYPE_NULL;  // of bytes
  MPI_Datatype places = MPI_DATATYPE_NULL;   // of elements
  MPI_Type_vector(n * sizeof(int), 1, 2, MPI_BYTE, &seconds);
  MPI_Type_vector(n, 1, 2, MPI_INT, &places);
  MPI_Type_commit(&seconds);
  MPI_Type_commit(&places);
  const int right = right_rank();
  in_epoch(Epoch::fence, area.win, right, [&] {
    CHECK_OK(MPI_Get_accumulate(spread.data(), 1, seconds, result.data(), sizeof(values), MPI_CHAR,
                                right, 0, 1, places, MPI_REPLACE, area.win));
  });
  for (int i = 0; i < n; ++i) {
    int old = 0;
    memcpy(&old, &result[static_cast<std::size_t>(i) * sizeof(int)], sizeof(old));
    CHECK_INT(100 * right + 2 * i, old);
    CHECK_INT(0x1020304 * (i + 1) + left_rank(), area.base[2 * i]);
    CHECK_INT(100 * test.rank + 2 * i + 1, area.base[2 * i + 1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  in_epoch(Epoch::lock_all, area.win, right, [&] {
    CHECK_OK(MPI_Raccumulate(values.data(), sizeof(values), MPI_BYTE, right, 1, 1, places,
                             MPI_REPLACE, area.win, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_CLASS2(
        MPI_ERR_TYPE, MPI_ERR_ARG,
        MPI_Accumulate(values.data(), 4, MPI_BYTE, right, 0, 1, MPI_INT, MPI_SUM, area.win));
  });
  for (int i = 0; i < n; ++i) CHECK_INT(0x1020304 * (i + 1) + left_rank(), area.base[2 * i + 1]);
  MPI_Type_free(&seconds);
  MPI_Type_free(&places);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_accumulate_layouts", &argc, &argv);
  every_layout<int>(MPI_INT, "ints", Kind::integer, Flavor::allocate);
  every_layout<double>(MPI_DOUBLE, "doubles", Kind::floating, Flavor::create);
  every_layout<short>(MPI_SHORT, "shorts", Kind::integer, Flavor::create);
  every_layout<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, "complex numbers", Kind::complex,
                                     Flavor::allocate);
  pairs();
  unlike_types();
  return test_end();
}
