// Four threads accumulate on the same elements, by operations that commute there: whatever the
// order was, one outcome is right.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <thread>

#include "accumulate_scene.hpp"
#include "window/accumulate.hpp"

namespace oriel::window {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kElements = 24;

class AccumulateTogetherBy : public testing::TestWithParam<Way> {
 protected:
  /// Runs body(origin) on a thread each; the target's part starts as zeros.
  void run(const std::function<void(std::size_t)>& body) {
    std::vector<std::exception_ptr> failures(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t origin = 0; origin < kThreads; ++origin) {
      threads.emplace_back([&, origin] {
        try {
          body(origin);
          scene_.flush(origin);
        } catch (...) {
          failures[origin] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  /// `count` equal operands from element `first` on; waits now and then.
  template <class T>
  void apply(std::size_t origin, OpCode op, T operand, std::size_t first, std::size_t count,
             T* results = nullptr) {
    const std::vector<T> operands(count, operand);
    scene_.accumulate(origin, {.type = element_type<T>(),
                               .op = op,
                               .count = count,
                               .operands = reinterpret_cast<const std::byte*>(operands.data()),
                               .results = reinterpret_cast<std::byte*>(results),
                               .offset_bytes = first * sizeof(T)});
  }
  template <class T>
  [[nodiscard]] T element(std::size_t index) {
    T value;
    std::memcpy(&value, scene_.memory().data() + index * sizeof(T), sizeof value);
    return value;
  }

  /// Sums in the low half of an integer, bits set and bits flipped in two parts of the high half,
  /// and operations that change nothing but have to look: they commute.
  template <class T>
  void mix_integers(int rounds);

  Scene scene_{GetParam(), kThreads};
};
INSTANTIATE_TEST_SUITE_P(Ways, AccumulateTogetherBy, testing::ValuesIn(all_ways()), way_name);

template <class T>
void AccumulateTogetherBy::mix_integers(int rounds) {
  constexpr unsigned kBits = sizeof(T) * 8;
  const auto bit = [](unsigned which) { return static_cast<T>(T{1} << which); };
  std::vector<std::array<T, kElements>> sums(kThreads);
  std::vector<std::array<T, kElements>> flips(kThreads);
  run([&](std::size_t origin) {
    std::mt19937_64 random(origin);
    std::array<T, kElements> results{};
    for (int round = 0; round < rounds; ++round) {
      const std::size_t first = random() % kElements;
      const std::size_t count = 1 + random() % (kElements - first);
      T* const wanted = random() % 2 == 0 ? results.data() : nullptr;
      const auto each = [&](auto&& use) {
        for (std::size_t i = first; i < first + count; ++i) use(i);
      };
      switch (random() % 6) {
        case 0:
        case 1:
          apply<T>(origin, OpCode::sum, 1, first, count, wanted);
          each([&](std::size_t i) { ++sums[origin][i]; });
          break;
        case 2:
          apply<T>(origin, OpCode::bor, bit(kBits / 2 + static_cast<unsigned>(origin)), first,
                   count, wanted);
          break;
        case 3: {
          const T flipped = bit(kBits / 2 + 4 + static_cast<unsigned>(random() % 4));
          apply<T>(origin, OpCode::bxor, flipped, first, count, wanted);
          each([&](std::size_t i) {
            flips[origin][i] = static_cast<T>(flips[origin][i] ^ flipped);
          });
          break;
        }
        case 4:
          apply<T>(origin, OpCode::max, 0, first, count, wanted);
          break;
        default:
          apply<T>(origin, OpCode::prod, 1, first, count, wanted);
          break;
      }
      if (wanted != nullptr) scene_.flush(origin);
    }
    // Everyone has set its own bit everywhere at least once.
    apply<T>(origin, OpCode::bor, bit(kBits / 2 + static_cast<unsigned>(origin)), 0, kElements);
  });
  for (std::size_t i = 0; i < kElements; ++i) {
    T sum = 0;
    T flipped = 0;
    for (std::size_t origin = 0; origin < kThreads; ++origin) {
      sum = static_cast<T>(sum + sums[origin][i]);
      flipped = static_cast<T>(flipped ^ flips[origin][i]);
    }
    const T set = static_cast<T>(T{0xF} << kBits / 2);
    ASSERT_LT(sum, bit(kBits / 2)) << "the sum has left its half";
    EXPECT_EQ(element<T>(i), static_cast<T>(sum | set | flipped)) << i;
  }
}

TEST_P(AccumulateTogetherBy, MixedOperationsOnWordsLoseNothing) {
  mix_integers<std::uint64_t>(300);
}

TEST_P(AccumulateTogetherBy, MixedOperationsOnSmallElementsLoseNothing) {
  mix_integers<std::uint32_t>(300);
  std::ranges::fill(scene_.memory().first(256), std::byte{0});
  mix_integers<std::uint16_t>(60);  // sums stay below 2^8
}

TEST_P(AccumulateTogetherBy, SumsOfLargeElementsLoseNothing) {
  using Complex = std::complex<double>;
  constexpr int kRounds = 150;
  run([&](std::size_t origin) {
    for (int round = 0; round < kRounds; ++round) {
      apply<Complex>(origin, OpCode::sum, {1, -1}, 0,
                     static_cast<std::size_t>(round) % kElements + 1);
    }
  });
  double wanted = 0;
  for (std::size_t i = kElements; i-- > 0;) {
    for (int round = 0; round < kRounds; ++round) {
      if (static_cast<std::size_t>(round) % kElements == i) wanted += kThreads;
    }
    EXPECT_EQ(element<Complex>(i), Complex(wanted, -wanted)) << i;
  }
}

TEST_P(AccumulateTogetherBy, TheBestOfAllIsLeftWithItsPlace) {
  using Pair = ValueIndex<double>;
  run([&](std::size_t origin) {
    std::mt19937_64 random(origin);
    for (int round = 0; round < 150; ++round) {
      const int index = static_cast<int>(random() % 1000) + 1;
      apply<Pair>(origin, OpCode::minloc, {-1.0 * (index % 50), index}, 0, random() % 3 + 1);
      const double value = static_cast<double>(random() % 10'000);
      apply<double>(origin, OpCode::max, value, 100, random() % 3 + 1);
    }
    apply<Pair>(origin, OpCode::minloc, {-99, 50 - static_cast<int>(origin)}, 0, 1);
    apply<double>(origin, OpCode::max, 20'000.0 + static_cast<double>(origin), 100, 1);
  });
  EXPECT_EQ(element<Pair>(0), (Pair{-99, 50 - static_cast<int>(kThreads - 1)}));
  EXPECT_EQ(element<double>(100), 20'000.0 + static_cast<double>(kThreads - 1));
}

// Each value put in comes out again once, or stays: no two replacements meet unseen.
TEST_P(AccumulateTogetherBy, ReplacementsSeeEachOther) {
  const auto check = [&]<class T>(T /*type*/) {
    constexpr std::size_t kTokens = 120;
    std::vector<std::vector<T>> seen(kThreads, std::vector<T>(kTokens));
    std::ranges::fill(scene_.memory().first(64), std::byte{0});
    run([&](std::size_t origin) {
      for (std::size_t i = 0; i < kTokens; ++i) {
        apply<T>(origin, OpCode::replace, static_cast<T>(1 + origin * kTokens + i), 1, 1,
                 &seen[origin][i]);
        scene_.flush(origin);
      }
    });
    std::vector<T> all = {element<T>(1)};
    for (const auto& some : seen) all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<T>(i));
  };
  check(std::uint64_t{});
  check(std::uint32_t{});
  check(double{});
}

// A counter moved by compare-and-swap, and by sums beside it.
TEST_P(AccumulateTogetherBy, SwapsAndSumsOnOneElementLoseNothing) {
  const auto check = [&]<class T>(T /*type*/) {
    constexpr int kRounds = 60;
    std::ranges::fill(scene_.memory().first(64), std::byte{0});
    run([&](std::size_t origin) {
      T seen = 0;
      for (int round = 0; round < kRounds; ++round) {
        apply<T>(origin, OpCode::sum, 1, 1, 1);
        for (T expected = seen;; expected = seen) {
          const T more = static_cast<T>(expected + 100);
          scene_.compare_and_swap(origin, {.type = element_type<T>(),
                                           .compare = reinterpret_cast<const std::byte*>(&expected),
                                           .swap = reinterpret_cast<const std::byte*>(&more),
                                           .result = reinterpret_cast<std::byte*>(&seen),
                                           .offset_bytes = sizeof(T)});
          scene_.flush(origin);
          if (seen == expected) break;
        }
      }
    });
    EXPECT_EQ(element<T>(1), static_cast<T>(101 * kRounds * static_cast<int>(kThreads)));
  };
  check(std::uint64_t{});
  check(std::uint32_t{});
  check(std::uint16_t{});
}

}  // namespace
}  // namespace oriel::window
