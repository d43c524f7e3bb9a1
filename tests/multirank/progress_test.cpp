// A target that computes delays nobody: everything the others do to it completes though it calls
// nothing. By order, not by time: the target leaves its loop only when it sees, in its own memory,
// that they have finished. If they needed it, this would never end.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kData = 20'000;  // words per peer: beyond every inline and small-copy limit

/// One part: [finished flags, one per rank][sum][claims][ended][data of each rank].
class Progress : public BothKinds {
 protected:
  Progress() : exposed_(world(), GetParam(), data_of(ranks())) {
    std::ranges::fill(exposed_.window.local().subspan(data_of(0)), Word{42});
    exposed_.window.fence();
  }

  [[nodiscard]] static std::size_t size() { return static_cast<std::size_t>(ranks()); }
  [[nodiscard]] static std::size_t sum() { return size(); }
  [[nodiscard]] static std::size_t claims() { return size() + 1; }
  [[nodiscard]] static std::size_t ended() { return size() + 2; }
  [[nodiscard]] static std::size_t data_of(int rank) {
    return size() + 3 + kData * static_cast<std::size_t>(rank);
  }

  /// Every kind of operation on the target, each complete before the next; then the flag.
  void use(Rank target) {
    auto& window = exposed_.window;
    const std::size_t mine = data_of(me());
    std::vector<Word> values(kData, static_cast<Word>(me()));
    std::vector<Word> seen(kData);
    window.get(seen, target, mine);
    window.flush_local(target);
    EXPECT_EQ(std::ranges::count(seen, Word{42}), static_cast<std::ptrdiff_t>(kData));
    window.put(values, target, mine);
    window.flush(target);
    window.get(seen, target, mine);
    window.flush(target);
    EXPECT_EQ(seen, values);
    for (int i = 0; i < 20; ++i) window.fetch_add(1, target, sum());
    for (Word old = 0;;) {
      const Word found = window.compare_and_swap(old, old + 1, target, claims());
      if (found == old) break;
      old = found;
    }
    Word result = 0;
    window.fetch_add(0, result, target, sum());
    window.flush_all();
    EXPECT_GE(result, 20U);
    EXPECT_EQ(window.get(target, ended()), 0U) << "the target has ended its computation too early";
    window.put(Word{1}, target, static_cast<std::size_t>(me()));
    window.flush(target);
  }

  [[nodiscard]] std::atomic_ref<Word> own_word(std::size_t index) {
    return std::atomic_ref(exposed_.window.local()[index]);
  }

  /// Computes at least `least`, and until all others have set their flags; calls nothing of Oriel.
  void compute(std::chrono::seconds least) {
    const auto until = Clock::now() + least;
    double value = 1;
    const auto finished = [&] {
      for (std::size_t rank = 0; rank < size(); ++rank) {
        const bool other = static_cast<int>(rank) != me();
        if (other && own_word(rank).load(std::memory_order_acquire) == 0) return false;
      }
      return true;
    };
    do {
      for (int i = 0; i < 10'000; ++i) value += 1 / value;
    } while (Clock::now() < until || !finished());
    EXPECT_GT(value, 1);
    own_word(ended()).store(1, std::memory_order_release);
  }

  void check(Rank target) {
    if (target != me()) return;
    const auto others = static_cast<Word>(ranks() - 1);
    EXPECT_EQ(exposed_.window.get(target, sum()), 20 * others);
    EXPECT_EQ(exposed_.window.get(target, claims()), others);
    for (int rank = 0; rank < ranks(); ++rank) {
      const Word expected = rank == target ? 42 : static_cast<Word>(rank);
      const auto data = exposed_.window.local().subspan(data_of(rank), kData);
      EXPECT_EQ(std::ranges::count(data, expected), static_cast<std::ptrdiff_t>(kData));
    }
  }

  void run(Rank target, std::chrono::seconds least) {
    if (target == me()) {
      compute(least);
    } else {
      use(target);
    }
    exposed_.window.fence();
    check(target);
    exposed_.window.fence();
  }

  Exposed<Word> exposed_;
};

TEST_P(Progress, OthersFinishWhileTheTargetComputes) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  run(Rank(0), std::chrono::seconds(0));
  run(Rank(ranks() - 1), std::chrono::seconds(0));
}

TEST_P(Progress, OthersFinishWhileTheTargetComputesForThreeSeconds) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  run(Rank(0), std::chrono::seconds(3));
}

INSTANTIATE_TEST_SUITE_P(Both, Progress, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
