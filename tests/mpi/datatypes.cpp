// Every constructor of datatypes on either side of put, get and the accumulates, against an oracle
// that moves one element after the other [MPI-3.1, 4.1, 11.3].

#include <string>

#include "layout.hpp"

namespace {

constexpr int kElements = 24;  // of each layout, but those of no size

std::vector<Layout> layouts_of(const Layout& e) {
  const MPI_Aint x = e.extent();
  std::vector<Layout> all;
  all.push_back(contiguous(24, e));
  all.push_back(vector(24, 1, 3, e));
  all.push_back(vector(6, 4, 5, e));
  all.push_back(vector(4, 6, 6, e));   // in fact contiguous
  all.push_back(vector(6, 4, -5, e));  // backwards
  all.push_back(hvector(8, 3, 4 * x, e));
  all.push_back(hvector(8, 3, -7 * x, e));
  all.push_back(indexed({3, 0, 10, 1, 10}, {5, 0, 12, 1, 30}, e));
  all.push_back(indexed({4, 4, 4, 4, 4, 4}, {40, 30, 20, 10, 5, 0}, e));  // falling
  all.push_back(hindexed({12, 12}, {20 * x, 2 * x}, e));
  all.push_back(hindexed({12, 12}, {-20 * x, 2 * x}, e));  // before the address
  all.push_back(indexed_block(6, {0, 10, 30, 20}, e));
  all.push_back(hindexed_block(8, {16 * x, 0, 40 * x}, e));
  all.push_back(structure({10, 14}, {x, 15 * x}, {e, e}, 40 * x));
  all.push_back(subarray({6, 8}, {4, 6}, {1, 1}, MPI_ORDER_C, e));
  all.push_back(subarray({6, 8}, {4, 6}, {2, 0}, MPI_ORDER_FORTRAN, e));
  all.push_back(subarray({4, 5, 6}, {2, 3, 4}, {1, 2, 1}, MPI_ORDER_C, e));
  all.push_back(subarray({4, 5, 6}, {2, 3, 4}, {2, 0, 2}, MPI_ORDER_FORTRAN, e));
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    all.push_back(darray(1, {8, 12}, {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                         {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, {2, 2}, order, e));
    all.push_back(darray(3, {8, 12}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, {2, 3}, {2, 2},
                         order, e));
    all.push_back(darray(1, {6, 8}, {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},
                         {MPI_DISTRIBUTE_DFLT_DARG, 4}, {1, 2}, order, e));
  }
  Layout one = vector(3, 2, 4, e);
  Layout spaced = resized(-x, 14 * x, one);
  all.push_back(contiguous(4, spaced));  // nested, and resized within
  all.push_back(vector(2, 2, 3, spaced));
  Layout tight = resized(0, x, vector(1, 1, 1, e));
  all.push_back(vector(24, 1, 2, tight));
  all.push_back(duplicate(all[1]));
  Layout column = resized(0, x, vector(6, 1, 8, e));
  all.push_back(contiguous(4, column));  // four columns of a matrix, one after the other
  for (Layout& layout : all) commit(layout);
  for (Layout* layout : {&one, &spaced, &tight, &column}) free_layout(*layout);
  return all;
}

/// Memory of a window or an origin that holds `count` of a layout, wherever its address lies.
template <class T>
struct Buffer {
  explicit Buffer(std::size_t elements, T first) : values(elements) {
    for (std::size_t i = 0; i < elements; ++i)
      values[i] = static_cast<T>(first + static_cast<T>(i % 97));
  }
  [[nodiscard]] char* bytes() { return reinterpret_cast<char*>(values.data()); }
  std::vector<T> values;
};

template <class T>
void move(const Layout& from, char* source, const Layout& to, char* sink) {
  const auto read = elements(from, 1);
  const auto written = elements(to, 1);
  for (std::size_t i = 0; i < read.size(); ++i)
    memcpy(sink + written[i].first, source + read[i].first,
           static_cast<std::size_t>(read[i].second));
}

template <class T>
void add(const Layout& from, char* source, const Layout& to, char* sink) {
  const auto read = elements(from, 1);
  const auto written = elements(to, 1);
  for (std::size_t i = 0; i < read.size(); ++i) {
    T left;
    T right;
    memcpy(&left, sink + written[i].first, sizeof(T));
    memcpy(&right, source + read[i].first, sizeof(T));
    left = static_cast<T>(left + right);
    memcpy(sink + written[i].first, &left, sizeof(T));
  }
}

template <class T>
void every_pair(MPI_Datatype type, const char* name) {
  constexpr std::size_t kRoom = 400;     // elements of T in every buffer
  constexpr std::size_t kAddress = 150;  // where in it the address points: some layouts go below
  constexpr MPI_Aint kAt = kAddress * sizeof(T);
  test_section(name);
  std::vector<Layout> all = layouts_of(basic(type, sizeof(T)));
  Area<T> area(Flavor::allocate, kRoom);
  const int target = right_rank();
  const auto fresh_window = [&](int rank) { return Buffer<T>(kRoom, static_cast<T>(rank)); };
  const auto fresh_origin = [&](int rank) { return Buffer<T>(kRoom, static_cast<T>(20 + rank)); };
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Each against all would be a thousand: all against itself, a plain one, and some others.
    for (const std::size_t k : {i, std::size_t{0}, (i * 7 + 3) % all.size()}) {
      const Layout& mine = all[i];
      const Layout& theirs = all[k];
      const bool writable = is_disjoint(theirs, 1) && is_disjoint(mine, 1);
      for (int call = 0; writable && call < 4; ++call) {
        Buffer<T> origin = fresh_origin(test.rank);
        Buffer<T> result = fresh_origin(3);
        Buffer<T> window = fresh_window(test.rank);
        memcpy(area.base, window.bytes(), kRoom * sizeof(T));
        MPI_Barrier(MPI_COMM_WORLD);
        char* const o = origin.bytes() + kAt;
        char* const r = result.bytes() + kAt;
        switch (call) {
          case 0:
            CHECK_OK(MPI_Put(o, 1, mine.type, target, kAddress, 1, theirs.type, area.win));
            break;
          case 1:
            CHECK_OK(MPI_Get(r, 1, mine.type, target, kAddress, 1, theirs.type, area.win));
            break;
          case 2:
            CHECK_OK(MPI_Accumulate(o, 1, mine.type, target, kAddress, 1, theirs.type, MPI_SUM,
                                    area.win));
            break;
          default:
            CHECK_OK(MPI_Get_accumulate(o, 1, mine.type, r, 1, mine.type, target, kAddress, 1,
                                        theirs.type, MPI_SUM, area.win));
        }
        CHECK_OK(MPI_Win_flush(target, area.win));
        MPI_Barrier(MPI_COMM_WORLD);
        // The oracle: what the left did to me, what I got from the right.
        Buffer<T> from_left = fresh_origin(left_rank());
        Buffer<T> expected_result = fresh_origin(3);
        Buffer<T> at_right = fresh_window(target);
        if (call == 0) move<T>(mine, from_left.bytes() + kAt, theirs, window.bytes() + kAt);
        if (call == 2 || call == 3)
          add<T>(mine, from_left.bytes() + kAt, theirs, window.bytes() + kAt);
        if (call == 1 || call == 3)
          move<T>(theirs, at_right.bytes() + kAt, mine, expected_result.bytes() + kAt);
        const bool equal = CHECK(memcmp(window.bytes(), area.base, kRoom * sizeof(T)) == 0) &&
                           CHECK(expected_result.values == result.values) &&
                           CHECK(origin.values == fresh_origin(test.rank).values);
        if (!equal) fprintf(stderr, "  %s: layouts %zu -> %zu, call %d\n", name, i, k, call);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  for (Layout& layout : all) free_layout(layout);
}

/// Elements of several kinds, for put and get.
void structures() {
  test_section("structures");
  struct Item {
    double real;
    char letter;
    std::array<short, 3> numbers;
    float single;
  };
  Layout item = structure(
      {1, 1, 3, 1},
      {offsetof(Item, real), offsetof(Item, letter), offsetof(Item, numbers),
       offsetof(Item, single)},
      {basic(MPI_DOUBLE, 8), basic(MPI_CHAR, 1), basic(MPI_SHORT, 2), basic(MPI_FLOAT, 4)},
      sizeof(Item));
  Layout every_third = vector(5, 1, 3, item);
  commit(item);
  commit(every_third);
  const auto value = [](int rank, int i) {
    Item made;
    memset(&made, rank, sizeof(made));  // gaps differ by rank
    made.real = rank + i / 8.0;
    made.letter = static_cast<char>('a' + i);
    for (std::size_t k = 0; k < 3; ++k) made.numbers[k] = static_cast<short>(10 * rank + i);
    made.single = static_cast<float>(-i);
    return made;
  };
  Area<Item> area(Flavor::allocate, 15);
  std::array<Item, 15> mine{};
  for (int i = 0; i < 15; ++i) {
    mine[static_cast<std::size_t>(i)] = value(test.rank, i);
    area.base[i] = value(100, 0);
  }
  in_epoch(Epoch::fence, area.win, right_rank(), [&] {
    CHECK_OK(MPI_Put(mine.data(), 1, every_third.type, right_rank(), 1, 5, item.type, area.win));
  });
  for (int i = 0; i < 15; ++i) {
    const Item expected = i >= 1 && i < 6 ? value(left_rank(), 3 * (i - 1)) : value(100, 0);
    CHECK_REAL(expected.real, area.base[i].real);
    CHECK_INT(expected.letter, area.base[i].letter);
    CHECK_INT(expected.numbers[2], area.base[i].numbers[2]);
    CHECK(expected.single == area.base[i].single);
    // What is between the elements is nobody's: it stays.
    const auto* const gap =
        reinterpret_cast<unsigned char*>(&area.base[i]) + offsetof(Item, letter);
    CHECK_INT(100, gap[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free_layout(every_third);
  free_layout(item);
}

/// Types without data move none, on both sides.
void of_no_size() {
  test_section("types of no size");
  const Layout e = basic(MPI_INT, 4);
  std::vector<Layout> empty;
  empty.push_back(contiguous(0, e));
  empty.push_back(vector(0, 3, 5, e));
  empty.push_back(vector(3, 0, 5, e));
  empty.push_back(indexed({0, 0}, {100, 5000}, e));
  empty.push_back(indexed({}, {}, e));
  for (Layout& layout : empty) CHECK_OK(MPI_Type_commit(&layout.type));
  Area<int> area(Flavor::create, 1);
  int value = -1;
  in_epoch(Epoch::lock_all, area.win, 0, [&] {
    for (const Layout& layout : empty) {
      const int t = right_rank();
      MPI_Datatype const type = layout.type;
      CHECK_OK(MPI_Put(&value, 5, type, t, 0, 5, type, area.win));
      CHECK_OK(MPI_Get(&value, 5, type, t, 1, 0, MPI_INT, area.win));
      CHECK_OK(MPI_Put(&value, 0, MPI_INT, t, 0, 3, type, area.win));
    }
  });
  CHECK_INT(0, area.base[0]);
  CHECK_INT(-1, value);
  for (Layout& layout : empty) free_layout(layout);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_datatypes", &argc, &argv);
  every_pair<int>(MPI_INT, "ints");
  every_pair<double>(MPI_DOUBLE, "doubles");
  every_pair<unsigned char>(MPI_UNSIGNED_CHAR, "bytes");
  structures();
  of_no_size();
  return test_end();
}
