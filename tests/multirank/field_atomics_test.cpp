// Atomics that got into each other's way elsewhere, by the numbers of their cases: bulk and single
// ones on the same words, neighbours within a word, locks made of them.

#include <cstdint>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class MixedAtomics : public BothKinds {};

/// To the left many elements at a time, to the right one: each part gets both, on all elements.
template <class T>
void expect_exact_totals(Kind kind) {
  constexpr std::size_t kElements = 1024;
  Exposed<T> elements(world(), kind, kElements);
  std::vector<T> wanted(kElements);
  const std::vector<T> values(kElements, T{3});
  for (int round = 0; round < scaled(200); ++round) {
    const auto number = static_cast<std::size_t>(round);
    const std::size_t count = round % 20 == 0 ? kElements : 1 + number % 2;
    const std::size_t first = number % (kElements - count + 1) / 8;
    elements.window.accumulate(std::span(values).first(count), left(), first, op::sum);
    elements.window.fetch_add(T{1}, right(), first);
    for (std::size_t i = 0; i < count; ++i) wanted[first + i] += T{3};
    wanted[first] += T{1};
  }
  elements.window.fence();
  EXPECT_TRUE(std::ranges::equal(elements.window.local(), wanted));
  elements.window.fence();
}

// B016
TEST_P(MixedAtomics, BulkAndSingleOnesOnTheSameWordsAddUp) {
  expect_exact_totals<std::int32_t>(GetParam());
  expect_exact_totals<std::int64_t>(GetParam());
}

// B019: the owner takes one away and puts it back, by the same calls, whatever is promised.
TEST(PromisedAtomics, TheOwnersOwnDoNotGetLost) {
  const int rounds = scaled(1000);
  for (const WindowOptions& promises :
       {WindowOptions{}, WindowOptions{.single_op = true}, WindowOptions{.single_element = true},
        WindowOptions{.single_op = true, .single_element = true}}) {
    auto window = Window<Word>::allocate(world(), 1, promises);
    for (int round = 0; round < rounds; ++round) {
      if (me() == 0) window.fetch_add(~Word{0}, Rank(0), 0);
      window.accumulate(Word{1}, Rank(0), 0, op::sum);
    }
    window.fence();
    EXPECT_EQ(window.get(Rank(0), 0), static_cast<Word>(rounds * (ranks() - 1)));
    window.fence();
  }
}

/// Everybody adds to an element of its own in the part of rank 0, the last of which ends in the
/// middle of a word of 8 bytes.
template <class T>
void expect_neighbours_unharmed(Kind kind) {
  const auto size = static_cast<std::size_t>(ranks() | 1);
  const int rounds = scaled(1000);
  Exposed<T> elements(world(), kind, size);
  const std::size_t mine = size - 1 - static_cast<std::size_t>(me());
  T last{};
  for (int round = 0; round < rounds; ++round) {
    last = elements.window.fetch_add(T{1}, Rank(0), mine);
  }
  EXPECT_EQ(last, static_cast<T>(rounds - 1));
  elements.window.fence();
  for (std::size_t i = 0; i < size && me() == 0; ++i) {
    const bool used = i >= size - static_cast<std::size_t>(ranks());
    EXPECT_EQ(elements.window.local()[i], static_cast<T>(used ? rounds : 0)) << i;
  }
  elements.window.fence();
}

// B023: no atomic of a device is narrower than 8 bytes.
TEST_P(MixedAtomics, NeighboursWithinAWordAreNotHarmed) {
  expect_neighbours_unharmed<std::uint32_t>(GetParam());
  expect_neighbours_unharmed<std::uint16_t>(GetParam());
  expect_neighbours_unharmed<std::uint8_t>(GetParam());
}

// B029: a put is not atomic to a compare-and-swap; what gives such a lock back is a replace.
TEST_P(MixedAtomics, ALockTakenByASwapIsGivenBackByAReplace) {
  Exposed<Word> words(world(), GetParam(), 2);  // lock, counter
  auto& window = words.window;
  const int rounds = scaled(200);
  const auto owner = static_cast<Word>(me() + 1);
  for (int round = 0; round < rounds; ++round) {
    wait_until([&] { return window.compare_and_swap(0, owner, Rank(0), 0) == 0; });
    const Word seen = window.get(Rank(0), 1);
    window.put(seen + 1, Rank(0), 1);
    window.flush(Rank(0));
    window.accumulate(Word{0}, Rank(0), 0, op::replace);
    window.flush(Rank(0));
  }
  window.fence();
  EXPECT_EQ(window.get(Rank(0), 1), static_cast<Word>(rounds * ranks()));
  window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, MixedAtomics, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
