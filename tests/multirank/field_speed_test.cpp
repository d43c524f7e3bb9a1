// Cases of users' complaints about speed, as far as they can be told without a clock: what is
// behind them is counted, or would stand still.

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

/// Of this process so far.
long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

class Readers : public BothKinds {};

/// B181: gets from one target are not served one after another: all hold its lock, and read, at the
/// same time. Were they taken one by one, the barrier inside the lock would never end.
TEST_P(Readers, OfOneTargetReadAtTheSameTime) {
  const std::size_t count = static_cast<std::size_t>(scaled(1 << 20));
  Exposed<Word> words(job().world(), GetParam(), me() == 0 ? count : 0);
  const auto own = words.window.local();
  std::iota(own.begin(), own.end(), Word{1});
  words.window.fence();
  for (const bool all : {false, true}) {
    const auto guard = all ? words.window.lock_all() : words.window.lock(Rank(0), LockMode::shared);
    job().world().barrier();
    std::vector<Word> seen(count);
    words.window.get(seen, Rank(0), 0);
    words.window.flush(Rank(0));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], i + 1);
    job().world().barrier();
  }
  words.window.fence();
}

INSTANTIATE_TEST_SUITE_P(Kinds, Readers, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

/// B183: memory of a window is there when it is first written, and stays: a second pass over it
/// takes no page fault.
TEST(FirstTouch, IsTheOnlyOneThatIsPaidFor) {
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  auto window = Window<std::byte>::allocate(job().world(), kBytes);
  const auto part = window.local();
  const auto faults_of_a_pass = [&](std::byte value) {
    const long before = page_faults();
    std::fill(part.begin(), part.end(), value);
    return page_faults() - before;
  };
  const long first = faults_of_a_pass(std::byte{1});
  const long second = faults_of_a_pass(std::byte{2});
  RecordProperty("faults_first", static_cast<int>(first));
  EXPECT_LE(second, 16) << "the first pass took " << first;
  EXPECT_EQ(part.front(), std::byte{2});
  EXPECT_EQ(part.back(), std::byte{2});
  window.fence();
}

/// B186: a window in which the program hands out pieces by itself serves many small arrays at the
/// price of one creation.
TEST(OneWindow, ServesManySmallArrays) {
  constexpr std::size_t kArrays = 256;
  constexpr std::size_t kEach = 16;
  auto pool = Window<Word>::allocate(job().world(), kArrays * kEach);
  for (std::size_t array = 0; array < kArrays; ++array) {
    const std::vector<Word> values(kEach, 1000 * static_cast<Word>(me()) + array);
    pool.put(values, right(), array * kEach);
    pool.flush_local(right());
  }
  pool.fence();
  const auto own = pool.local();
  for (std::size_t i = 0; i < own.size(); ++i) {
    ASSERT_EQ(own[i], 1000 * static_cast<Word>(static_cast<int>(left())) + i / kEach);
  }
  pool.fence();
}

}  // namespace
}  // namespace oriel::test
