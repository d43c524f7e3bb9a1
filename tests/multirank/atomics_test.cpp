// fetch_add and compare_and_swap: nothing is lost, whoever does it to whom, on both kinds of
// windows.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class Atomics : public BothKinds {
 protected:
  [[nodiscard]] static Rank right() { return Rank((me() + 1) % ranks()); }
  [[nodiscard]] static Word total(int each) {
    return static_cast<Word>(each) * static_cast<Word>(ranks());
  }
};

/// All ranks' values in ascending order; through MPI.
std::vector<Word> gather_sorted(const std::vector<Word>& mine) {
  std::vector<Word> all(mine.size() * static_cast<std::size_t>(ranks()));
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, MPI_COMM_WORLD);
  std::ranges::sort(all);
  return all;
}

TEST_P(Atomics, AddsOfAllRanksToOneWordAreExactAndSeenOnce) {
  const int each = scaled(3000);
  Exposed<Word> words(world(), GetParam(), 1);
  std::vector<Word> seen;
  for (int i = 0; i < each; ++i) seen.push_back(words.window.fetch_add(1, Rank(0), 0));
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  const std::vector<Word> all = gather_sorted(seen);
  std::vector<Word> expected(all.size());
  std::iota(expected.begin(), expected.end(), Word{0});
  EXPECT_TRUE(all == expected) << "an old value was lost or given twice";
  EXPECT_EQ(words.window.get(Rank(0), 0), total(each));
  words.window.fence();
}

// B019, B080: the owner of the word takes part by the same calls; everybody is an owner.
TEST_P(Atomics, OwnersTakePartInTheirOwnWords) {
  const int each = scaled(1000);
  Exposed<Word> words(world(), GetParam(), 1);
  for (int i = 0; i < each; ++i) {
    words.window.fetch_add(~Word{0}, world().rank(), 0);  // -1
    words.window.fetch_add(1, world().rank(), 0);
    for (int target = 0; target < ranks(); ++target) words.window.fetch_add(1, Rank(target), 0);
  }
  words.window.fence();
  EXPECT_EQ(words.window.get(world().rank(), 0), total(each));
  EXPECT_EQ(words.window.get(right(), 0), total(each));
  words.window.fence();
}

TEST_P(Atomics, CountingByCompareAndSwapLosesNothing) {
  const int each = scaled(500);
  Exposed<Word> words(world(), GetParam(), 2);
  for (int i = 0; i < each; ++i) {
    for (Word seen = 0;;) {
      const Word old = words.window.compare_and_swap(seen, seen + 1, Rank(0), 1);
      if (old == seen) break;
      seen = old;
    }
  }
  words.window.fence();
  EXPECT_EQ(words.window.get(Rank(0), 1), total(each));
  words.window.fence();
}

// B021: one mechanism for the whole window, though half of the ranks only add and half only swap.
TEST_P(Atomics, AddsAndSwapsOnOneWordAreAtomicToEachOther) {
  const int each = scaled(500);
  Exposed<Word> words(world(), GetParam(), 1);
  const Rank owner(ranks() - 1);
  for (int i = 0; i < each; ++i) {
    if (me() % 2 == 0) {
      words.window.fetch_add(1, owner, 0);
      continue;
    }
    Word seen = words.window.get(owner, 0);
    for (Word old = 0; (old = words.window.compare_and_swap(seen, seen + 1, owner, 0)) != seen;) {
      seen = old;
    }
  }
  words.window.fence();
  EXPECT_EQ(words.window.get(owner, 0), total(each));
  words.window.fence();
}

TEST_P(Atomics, UnsignedAddsWrapAround) {
  Exposed<Word> words(world(), GetParam(), 1);
  words.window.put(std::numeric_limits<Word>::max(), right(), 0);
  words.window.fence();
  EXPECT_EQ(words.window.fetch_add(3, right(), 0), std::numeric_limits<Word>::max());
  EXPECT_EQ(words.window.get(right(), 0), 2U);
  words.window.fence();
}

TEST_P(Atomics, SignedAddsGoDownAndWrapAround) {
  Exposed<std::int64_t> words(world(), GetParam(), 2);
  EXPECT_EQ(words.window.fetch_add(-7, right(), 0), 0);
  EXPECT_EQ(words.window.fetch_add(2, right(), 0), -7);
  EXPECT_EQ(words.window.get(right(), 0), -5);
  words.window.put(std::numeric_limits<std::int64_t>::max(), right(), 1);
  words.window.flush(right());
  words.window.fetch_add(1, right(), 1);
  EXPECT_EQ(words.window.get(right(), 1), std::numeric_limits<std::int64_t>::min());
  words.window.fence();
}

// B027
TEST_P(Atomics, CompareAndSwapWritesOnlyOnAMatch) {
  Exposed<Word> words(world(), GetParam(), 1);
  for (int target = 0; target < ranks(); ++target) {
    if (target == me()) {
      for (int peer = 0; peer < ranks(); ++peer) {
        words.window.put(Word{5}, Rank(peer), 0);
        words.window.flush(Rank(peer));
        EXPECT_EQ(words.window.compare_and_swap(4, 9, Rank(peer), 0), 5U);
        EXPECT_EQ(words.window.get(Rank(peer), 0), 5U);
        EXPECT_EQ(words.window.compare_and_swap(5, 9, Rank(peer), 0), 5U);
        EXPECT_EQ(words.window.get(Rank(peer), 0), 9U);
      }
    }
    words.window.fence();
  }
}

// B028
TEST_P(Atomics, WindowOfOneWordTakesThem) {
  Exposed<Word> words(world(), GetParam(), 1);
  EXPECT_EQ(words.window.compare_and_swap(0, 11, right(), 0), 0U);
  EXPECT_EQ(words.window.fetch_add(1, right(), 0), 11U);
  words.window.fence();
  EXPECT_EQ(words.window.local()[0], 12U);
}

TEST_P(Atomics, DoublesAreComparedBitByBit) {
  Exposed<double> values(world(), GetParam(), 2);
  values.window.put(-0.0, right(), 0);
  values.window.flush(right());
  const double miss = values.window.compare_and_swap(0.0, 1.5, right(), 0);
  EXPECT_EQ(std::bit_cast<Word>(miss), std::bit_cast<Word>(-0.0));
  EXPECT_EQ(std::bit_cast<Word>(values.window.get(right(), 0)), std::bit_cast<Word>(-0.0));
  const double hit = values.window.compare_and_swap(-0.0, 1.5, right(), 0);
  EXPECT_EQ(std::bit_cast<Word>(hit), std::bit_cast<Word>(-0.0));
  EXPECT_EQ(values.window.get(right(), 0), 1.5);
  const double nan = std::numeric_limits<double>::quiet_NaN();  // equals itself, bit by bit
  values.window.put(nan, right(), 1);
  values.window.flush(right());
  EXPECT_EQ(std::bit_cast<Word>(values.window.compare_and_swap(nan, 2.5, right(), 1)),
            std::bit_cast<Word>(nan));
  EXPECT_EQ(values.window.get(right(), 1), 2.5);
  values.window.fence();
}

TEST_P(Atomics, StartedFormsHaveTheirResultAfterFlushLocal) {
  constexpr std::size_t kInFlight = 200;
  Exposed<Word> words(world(), GetParam(), kInFlight * static_cast<std::size_t>(ranks()));
  const std::size_t mine = kInFlight * static_cast<std::size_t>(me());
  std::vector<Word> results(kInFlight, 999);
  for (std::size_t i = 0; i < kInFlight; ++i) {
    words.window.fetch_add(i + 1, results[i], right(), mine + i);
  }
  words.window.flush_local(right());
  EXPECT_TRUE(std::ranges::all_of(results, [](Word old) { return old == 0; }));
  for (std::size_t i = 0; i < kInFlight; ++i) {
    words.window.compare_and_swap(i + 1, i + 500, results[i], right(), mine + i);
  }
  words.window.flush_local_all();
  for (std::size_t i = 0; i < kInFlight; ++i) EXPECT_EQ(results[i], i + 1);
  for (std::size_t i = 0; i < kInFlight; ++i) {
    words.window.fetch_add(0, results[i], right(), mine + i);
  }
  words.window.flush(right());
  for (std::size_t i = 0; i < kInFlight; ++i) EXPECT_EQ(results[i], i + 500);
  words.window.fence();
}

TEST_P(Atomics, StartedFormsOfAllRanksOnOneWordAddUp) {
  const int each = scaled(2000);
  Exposed<Word> words(world(), GetParam(), 1);
  std::vector<Word> results(static_cast<std::size_t>(each));
  for (Word& result : results) words.window.fetch_add(1, result, Rank(0), 0);
  words.window.fence();
  EXPECT_EQ(words.window.get(Rank(0), 0), total(each));
  const std::vector<Word> all = gather_sorted(results);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "an old value was given twice";
  EXPECT_EQ(all.back(), total(each) - 1);
  words.window.fence();
}

// The word itself, and nothing beside it: puts on both neighbours while it is added to.
TEST_P(Atomics, PutsOnNeighbouringWordsLoseNothing) {
  const int each = scaled(1000);
  Exposed<Word> words(world(), GetParam(), 2 * static_cast<std::size_t>(ranks()) + 1);
  const std::size_t mine = 2 * static_cast<std::size_t>(me());
  for (int i = 1; i <= each; ++i) {
    words.window.put(static_cast<Word>(i), Rank(0), mine);  // even words: one writer each
    words.window.fetch_add(1, Rank(0), mine + 1);           // odd words: two adders each
    words.window.fetch_add(1, Rank(0), (mine + 3) % (2 * static_cast<std::size_t>(ranks())));
  }
  words.window.fence();
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks()); ++rank) {
    EXPECT_EQ(words.window.get(Rank(0), 2 * rank), static_cast<Word>(each));
    EXPECT_EQ(words.window.get(Rank(0), 2 * rank + 1), static_cast<Word>(2 * each));
  }
  EXPECT_EQ(words.window.get(Rank(0), 2 * static_cast<std::size_t>(ranks())), 0U);
  words.window.fence();
}

/// The untyped calls: any byte offset can be said.
Word fetch_add_at(WindowBytes& window, Word operand, Rank target, std::size_t offset) {
  Word old = 0;
  window.accumulate_now(element_type<Word>(), OpCode::sum, &operand, &old, 1,
                        {"fetch_add", target, offset});
  return old;
}
void swap_at(WindowBytes& window, Word compare, Word swap, Word& result, Rank target,
             std::size_t offset) {
  window.compare_and_swap({element_type<Word>(), &compare, &swap, &result},
                          {"compare_and_swap", target, offset});
}

TEST(AtomicsAlignment, OffsetsNeedNotBeAMultipleOfEight) {
  const Rank right((me() + 1) % ranks());
  for (const bool created : {false, true}) {
    alignas(8) std::array<std::byte, 64> memory{};
    auto window =
        created ? WindowBytes::create(world(), memory) : WindowBytes::allocate(world(), 64);
    for (const std::size_t offset : {1U, 12U, 23U, 55U}) {
      Word result = 77;
      EXPECT_EQ(fetch_add_at(window, 1, right, offset), 0U);
      EXPECT_EQ(fetch_add_at(window, 4, right, offset), 1U);
      swap_at(window, 5, Word{1} << 60, result, right, offset);
      window.flush(right);
      EXPECT_EQ(result, 5U);
    }
    window.fence();
    for (const std::size_t offset : {1U, 12U, 23U, 55U}) {
      Word mine = 0;
      std::memcpy(&mine, window.local().data() + offset, sizeof mine);
      EXPECT_EQ(mine, Word{1} << 60);
    }
    window.fence();
  }
}

TEST_P(Atomics, EndWhereTheTargetsPartEnds) {
  const auto mine = static_cast<std::size_t>(me() + 1);
  Exposed<Word> words(world(), GetParam(), mine);  // sizes differ: the target's counts
  const std::size_t theirs = words.window.size(right());
  EXPECT_EQ(words.window.fetch_add(1, right(), theirs - 1), 0U);
  EXPECT_EQ(words.window.compare_and_swap(1, 2, right(), theirs - 1), 1U);
  Word result = 0;
  for (const std::size_t offset : {theirs, theirs + 1, std::size_t{1} << 60U}) {
    EXPECT_EQ(thrown_code([&] { words.window.fetch_add(1, right(), offset); }),
              ErrorCode::out_of_range);
    EXPECT_EQ(thrown_code([&] { words.window.compare_and_swap(0, 1, result, right(), offset); }),
              ErrorCode::out_of_range);
  }
  words.window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Atomics, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
