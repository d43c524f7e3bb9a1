// Accumulates and atomics that went wrong elsewhere, by the numbers of their cases: scattered data,
// elements of any type, bulk and single operations on the same words.

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Indices = std::vector<std::size_t>;

class Accumulates : public BothKinds {};

template <class T>
std::vector<T> numbers(std::size_t count, T first) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// B001, B002: on both sides at once, at sizes around every threshold; what lies between stays.
TEST_P(Accumulates, ScatteredOnBothSidesAreSummedAtEverySize) {
  const auto most = static_cast<std::size_t>(scaled(8192));  // 64 KiB
  Exposed<double> doubles(world(), GetParam(), 2 * most);
  auto& window = doubles.window;
  std::vector<double> wanted(2 * most, 10.0);
  std::ranges::copy(wanted, window.local().begin());
  window.fence();
  for (std::size_t count = 2; count <= most; count = count * 2 + 2 * (count % 3)) {
    Indices from(count);    // single elements, backwards
    Indices to(count / 2);  // pairs with a gap behind each
    for (std::size_t i = 0; i < count; ++i) from[i] = 2 * (count - 1 - i);
    for (std::size_t i = 0; i < count / 2; ++i) to[i] = 3 * i;
    const auto values = numbers(2 * count, 100.0 * me());
    window.accumulate(values, Layout::indexed(1, from), right(), 0, Layout::indexed(2, to),
                      op::sum);
    window.fence();
    for (std::size_t i = 0; i < count; ++i) {
      wanted[to[i / 2] + i % 2] += 100.0 * int{left()} + static_cast<double>(from[i]);
    }
    EXPECT_TRUE(std::ranges::equal(window.local(), wanted)) << count << " elements";
    window.fence();
  }
}

// B004
TEST_P(Accumulates, GapsOfResultsStayAndOriginsBeginWhereTheySay) {
  Exposed<int> ints(world(), GetParam(), 2);
  auto& window = ints.window;
  const int theirs = 10 * int{right()};
  window.local()[0] = 10 * me();
  window.local()[1] = 10 * me() + 1;
  window.fence();
  std::vector<int> seen(3, -1);
  const auto apart = Layout::strided(1, {{2, 2}});
  const auto both = Layout::contiguous(2);
  window.get_accumulate(seen, both, seen, apart, right(), 0, both, op::no_op);
  window.flush_local(right());
  EXPECT_EQ(seen, (std::vector<int>{theirs, -1, theirs + 1}));
  window.fence();
  const std::vector<int> values{7, 8, 9};
  window.accumulate(std::span(values).subspan(1, 1), right(), 0, op::replace);
  window.accumulate(values, Layout::indexed(1, Indices{2}), right(), 1, Layout::contiguous(1),
                    op::replace);
  window.accumulate(values, Layout::strided(1, {{1, 1}}), right(), 1, Layout::contiguous(1),
                    op::sum);
  window.fence();
  EXPECT_EQ(window.local()[0], 8);
  EXPECT_EQ(window.local()[1], 9 + 7);
}

// B006: the number of blocks has no limit but memory.
TEST_P(Accumulates, OfAnyNumberOfBlocks) {
  const bool by_agent = GetParam() == Kind::created;  // on one machine: block by block
  const auto most = static_cast<std::size_t>(scaled(by_agent ? 8192 : 131'072));
  Exposed<double> doubles(world(), GetParam(), 2 * most);
  auto& window = doubles.window;
  const auto values = numbers(most, 1.0);
  Indices places(most);
  for (std::size_t i = 0; i < most; ++i) places[i] = 2 * i + i % 2;
  std::vector<double> wanted(2 * most);
  for (std::size_t blocks : {256U, 512U, 4096U, 131'072U}) {
    blocks = std::min(blocks, most);
    const auto part = std::span(places).first(blocks);
    window.accumulate(values, Layout::contiguous(blocks), right(), 0, Layout::indexed(1, part),
                      op::sum);
    for (std::size_t i = 0; i < blocks; ++i) wanted[places[i]] += values[i];
  }
  window.fence();
  EXPECT_TRUE(std::ranges::equal(window.local(), wanted));
}

struct Padded {
  char tag;
  std::int32_t number;
  std::int16_t last;
};
static_assert(sizeof(Padded) > sizeof(char) + sizeof(std::int32_t) + sizeof(std::int16_t));
static_assert(Accumulable<Padded, op::Replace> && Accumulable<Padded, op::NoOp>);
static_assert(!Accumulable<Padded, op::Sum> && !Accumulable<Padded, op::Min> &&
              !Accumulable<Padded, op::Minloc> && !Accumulable<Padded, op::Band>);

// B008
TEST_P(Accumulates, ElementsWithPaddingAreNotShifted) {
  constexpr std::size_t kCount = 100;
  using Pair = ValueIndex<std::int16_t, std::int32_t>;
  Exposed<Padded> padded(world(), GetParam(), kCount);
  Exposed<Pair> pairs(world(), GetParam(), kCount);
  std::vector<Padded> values(kCount);
  std::vector<Pair> candidates(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const int index = static_cast<int>(i);
    values[i] = {'x', index - me(), static_cast<std::int16_t>(-index)};
    pairs.window.local()[i] = {std::int16_t{50}, 1000};
    candidates[i] = {static_cast<std::int16_t>(index), index + me()};
  }
  pairs.window.fence();
  padded.window.accumulate(values, right(), 0, op::replace);
  pairs.window.accumulate(candidates, right(), 0, op::minloc);
  padded.window.fence();
  pairs.window.fence();
  for (int i = 0; i < static_cast<int>(kCount); ++i) {
    const Padded& one = padded.window.local()[static_cast<std::size_t>(i)];
    EXPECT_TRUE(one.tag == 'x' && one.number == i - int{left()} && one.last == -i) << i;
    const Pair better{static_cast<std::int16_t>(i), i + int{left()}};
    EXPECT_EQ(pairs.window.local()[static_cast<std::size_t>(i)],
              i <= 50 ? better : (Pair{std::int16_t{50}, 1000}))
        << i;
  }
}

// B009: half of the ranks add to both halves at once, the others look.
template <class T>
void expect_no_torn_reads(Kind kind, T both, const std::function<bool(const T&)>& is_whole) {
  Exposed<T> elements(world(), kind, 2);
  auto& window = elements.window;
  const int rounds = scaled(2000);
  long torn = 0;
  T seen{};
  for (int round = 0; round < rounds; ++round) {
    if (me() % 2 == 1) {
      window.accumulate(both, Rank(0), 0, op::sum);
    } else if (round % 2 == 0) {
      torn += is_whole(window.fetch_and_op(T{}, Rank(0), 0, op::no_op)) ? 0 : 1;
    } else {
      window.get_accumulate(std::span<const T>(&both, 1), std::span(&seen, 1), Rank(0), 0,
                            op::no_op);
      window.flush_local(Rank(0));
      torn += is_whole(seen) ? 0 : 1;
    }
  }
  EXPECT_EQ(torn, 0) << "of " << rounds << " reads";
  window.fence();
}
TEST_P(Accumulates, AtomicReadsAreNeverTorn) {
  expect_no_torn_reads<std::uint64_t>(GetParam(), 0x1'0000'0001U, [](std::uint64_t value) {
    return value >> 32U == (value & 0xffff'ffffU);
  });
  using Complex = std::complex<double>;
  expect_no_torn_reads<Complex>(GetParam(), {1, 1}, [](const Complex& value) {
    return std::bit_cast<std::array<double, 2>>(value)[0] == value.imag();
  });
}

// B009: an atomic read sends nothing, so there need not be anything to send.
TEST(AtomicReads, NeedNoOrigin) {
  auto window = WindowBytes::allocate(world(), 16);
  fill(window.local(), static_cast<std::uint64_t>(me()));
  window.fence();
  std::array<std::byte, 16> seen{};
  window.accumulate_now(element_type<std::int64_t>(), OpCode::no_op, nullptr, seen.data(), 2,
                        {"get_accumulate", right(), 0});
  EXPECT_EQ(mismatch(seen, static_cast<std::uint64_t>(int{right()})), 16U);
  window.fence();
}

// B011
TEST_P(Accumulates, OfNothingMayBeSaidUpToTheEndOfThePart) {
  Exposed<int> ints(world(), GetParam(), 3);
  auto& window = ints.window;
  for (int target = 0; target < ranks(); ++target) {
    const Rank rank(target);
    const std::array<std::function<void(std::size_t)>, 4> calls{
        [&](std::size_t at) { window.put(std::span<const int>{}, rank, at); },
        [&](std::size_t at) { window.get({}, rank, at); },
        [&](std::size_t at) { window.accumulate(std::span<const int>{}, rank, at, op::sum); },
        [&](std::size_t at) { window.get_accumulate({}, {}, rank, at, op::max); },
    };
    for (const auto& call : calls) {
      for (const std::size_t at : {0U, 3U}) call(at);
      EXPECT_EQ(thrown_code([&] { call(4); }), ErrorCode::out_of_range);
    }
  }
  window.fence();
  EXPECT_TRUE(all_zero(std::as_bytes(window.local())));
}

/// Six and three by every operation that T has, each on an element of its own.
template <class T>
void expect_all_operations() {
  auto window = Window<T>::allocate(world(), 12);
  for (T& element : window.local()) element = static_cast<T>(6);
  window.fence();
  std::size_t at = 0;
  std::vector<std::pair<std::size_t, T>> wanted;
  const auto apply = [&](auto operation, float outcome) {
    if constexpr (Accumulable<T, decltype(operation)>) {
      window.accumulate(static_cast<T>(3.0F), right(), at, operation);
      wanted.emplace_back(at++, static_cast<T>(outcome));
    }
  };
  apply(op::sum, 9);
  apply(op::prod, 18);
  apply(op::min, 3);
  apply(op::max, 6);
  apply(op::band, 2);
  apply(op::bor, 7);
  apply(op::bxor, 5);
  apply(op::land, 1);
  apply(op::lor, 1);
  apply(op::lxor, 0);
  apply(op::replace, 3);
  apply(op::no_op, 6);
  window.fence();
  for (const auto& [index, outcome] : wanted) {
    EXPECT_EQ(window.local()[index], outcome) << "number " << index << " of its operations";
  }
}
template <class... T>
void expect_all_operations_of() {
  (expect_all_operations<T>(), ...);
}
static_assert(Accumulable<long double, op::Sum> && Accumulable<std::complex<long double>, op::Sum>);
static_assert(!Accumulable<bool, op::Sum> && Accumulable<bool, op::Lor>);

// B012: the types of the language, of which several have one size.
TEST(Elements, OfEveryTypeHaveTheirOperations) {
  expect_all_operations_of<char, signed char, unsigned char, wchar_t, bool, short, unsigned short,
                           int, unsigned, long, unsigned long, long long, unsigned long long, float,
                           double, long double, std::complex<float>, std::complex<double>,
                           std::complex<long double>>();
}

// B013: as many elements on both sides, however they are said.
TEST_P(Accumulates, OneLongBlockIsAsLongAsManyShortOnes) {
  constexpr std::size_t kBytes = 100;
  Exposed<std::byte> bytes(world(), GetParam(), kBytes);
  auto& window = bytes.window;
  std::vector<std::byte> values(kBytes + 1);
  fill(values, 3);
  const auto one = [](std::size_t count) { return Layout::strided(count, {{1, 7}}); };
  const auto many = [](std::size_t count) { return Layout::strided(1, {{count, 1}}); };
  for (const auto& [from, to] :
       {std::pair{one(kBytes), many(kBytes)}, {many(kBytes), one(kBytes)}}) {
    window.accumulate(values, from, right(), 0, to, op::replace);
    window.fence();
    EXPECT_EQ(mismatch(window.local(), 3), kBytes);
    std::ranges::fill(window.local(), std::byte{0});
    window.fence();
  }
  for (const auto& [from, to] :
       {std::pair{one(kBytes + 1), many(kBytes + 1)}, {many(kBytes + 1), one(kBytes + 1)}}) {
    EXPECT_EQ(thrown_code([&, &here = from, &there = to] {
                window.accumulate(values, here, right(), 0, there, op::replace);
              }),
              ErrorCode::out_of_range);
  }
  window.fence();
}

// B015
TEST_P(Accumulates, OldValuesAndNewOnesAreNotMixedUp) {
  for (const std::size_t count : {1U, 2U, static_cast<unsigned>(scaled(4096))}) {
    Exposed<long> longs(world(), GetParam(), count);
    std::ranges::fill(longs.window.local(), 7);
    longs.window.fence();
    std::vector<long> origin(2 * count, 5);  // the old values go right behind the operands
    const std::span<long> all(origin);
    longs.window.get_accumulate(all.first(count), all.last(count), right(), 0, op::sum);
    longs.window.fence();
    EXPECT_EQ(std::ranges::count(all.first(count), 5), static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(std::ranges::count(all.last(count), 7), static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(std::ranges::count(longs.window.local(), 12), static_cast<std::ptrdiff_t>(count));
    longs.window.fence();
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Accumulates, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
