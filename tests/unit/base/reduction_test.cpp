// What operations do to elements, against definitions written down a second time.

#include "base/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <thread>

#include "base/reduction_table.hpp"
#include "support/element_values.hpp"

namespace oriel::base {
namespace {

constexpr auto kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
T expected_arithmetic(OpCode code, T target, T operand) {
  if constexpr (std::integral<T>) {
    // Modulo 2^64 first, then modulo the size of T: the same as at once.
    const auto a = static_cast<std::uint64_t>(target);
    const auto b = static_cast<std::uint64_t>(operand);
    return static_cast<T>(code == OpCode::sum ? a + b : a * b);
  } else {
    return code == OpCode::sum ? target + operand : target * operand;
  }
}

template <class T>
T expected_integer(OpCode code, T target, T operand) {
  const bool a = target != 0;
  const bool b = operand != 0;
  switch (code) {
    case OpCode::band:
      return static_cast<T>(target & operand);
    case OpCode::bor:
      return static_cast<T>(target | operand);
    case OpCode::bxor:
      return static_cast<T>(target ^ operand);
    case OpCode::land:
      return a && b ? T{1} : T{0};
    case OpCode::lor:
      return a || b ? T{1} : T{0};
    default:
      return a != b ? T{1} : T{0};
  }
}

template <class T>
T expected(OpCode code, T target, T operand) {
  if (code == OpCode::replace) return operand;
  if (code == OpCode::no_op) return target;
  if constexpr (requires { target.index; }) {
    if (target.value == operand.value) {
      return {target.value, std::min(target.index, operand.index)};
    }
    return (target.value < operand.value) == (code == OpCode::minloc) ? target : operand;
  } else {
    if (code == OpCode::sum || code == OpCode::prod) {
      return expected_arithmetic(code, target, operand);
    }
    if constexpr (std::is_arithmetic_v<T>) {
      if (code == OpCode::min) return std::min(target, operand);
      if (code == OpCode::max) return std::max(target, operand);
    }
    if constexpr (std::integral<T>) return expected_integer(code, target, operand);
    return target;
  }
}

/// `count` elements with an odd number of bytes in front, if they need not be aligned.
template <class T>
struct Elements {
  Elements(std::size_t count, bool aligned, std::mt19937_64& random)
      : bytes(count * sizeof(T) + 8), begin(aligned ? 0 : 3) {
    test::fill_elements(element_type<T>(), std::span(bytes).subspan(begin, count * sizeof(T)),
                        random);
  }
  [[nodiscard]] std::byte* data() { return bytes.data() + begin; }
  [[nodiscard]] T at(std::size_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + begin + index * sizeof(T), sizeof value);
    return value;
  }
  std::vector<std::byte> bytes;
  std::size_t begin;
};

TEST(Reduction, EveryOperationOnEveryKindIsAsDefined) {
  std::mt19937_64 random(20240611);
  int pairs = 0;
  test::for_each_type([&]<class T>(std::type_identity<T>) {
    constexpr ElementType kType = element_type<T>();
    for (const OpCode code : test::all_op_codes()) {
      if (!has_meaning(kType.kind, code)) continue;
      ++pairs;
      for (const std::size_t count : {0U, 1U, 7U, 100U}) {
        Elements<T> target(count, false, random);
        Elements<T> operands(count, false, random);
        const Elements<T> before = target;
        reduce(kType, code, target.data(), operands.data(), count);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(target.at(i), expected(code, before.at(i), operands.at(i)))
              << to_string(kType.kind) << ' ' << to_string(code) << " element " << i;
        }
        EXPECT_TRUE(std::equal(before.bytes.end() - 5, before.bytes.end(), target.bytes.end() - 5));
      }
    }
  });
  EXPECT_EQ(pairs, 8 * 12 + 3 * 6 + 3 * 4 + 13 * 4);
}

TEST(Reduction, ByCpuAtomicsElementsBecomeTheSameAndOldOnesAreTold) {
  std::mt19937_64 random(7);
  test::for_each_type([&]<class T>(std::type_identity<T>) {
    constexpr ElementType kType = element_type<T>();
    if (kType.bytes > 8) return;
    for (const OpCode code : test::all_op_codes()) {
      if (!has_meaning(kType.kind, code)) continue;
      for (const bool wanted : {false, true}) {
        constexpr std::size_t kCount = 50;
        Elements<T> shared(kCount, true, random);
        Elements<T> operands(kCount, false, random);
        Elements<T> results(kCount, false, random);
        const Elements<T> before = shared;
        Elements<T> same = shared;
        reduce_shared(kType, code, shared.data(), operands.data(),
                      wanted ? results.data() : nullptr, kCount);
        reduce(kType, code, same.data(), operands.data(), kCount);
        ASSERT_EQ(shared.bytes, same.bytes) << to_string(kType.kind) << ' ' << to_string(code);
        if (wanted) {
          ASSERT_EQ(std::memcmp(results.data(), before.bytes.data(), kCount * sizeof(T)), 0);
        }
      }
    }
  });
}

// Kinds without a C++ type of the standard.
TEST(Reduction, NumbersOf128BitsAreComputed) {
  std::array<Float128, 2> target = {3, -2};
  const std::array<Float128, 2> operand = {Float128{1} / 3, 5};
  const auto run = [&](ElementType type, OpCode code, std::size_t count) {
    auto changed = target;
    reduce(type, code, reinterpret_cast<std::byte*>(changed.data()),
           reinterpret_cast<const std::byte*>(operand.data()), count);
    return changed;
  };
  constexpr ElementType kReal{ElementKind::float128, 16};
  constexpr ElementType kComplex{ElementKind::complex128x2, 32};
  const auto is = [](const std::array<Float128, 2>& found, Float128 first, Float128 second) {
    return found[0] == first && found[1] == second;
  };
  EXPECT_TRUE(is(run(kReal, OpCode::sum, 2), 3 + operand[0], 3));
  EXPECT_TRUE(is(run(kReal, OpCode::prod, 2), 3 * operand[0], -10));
  EXPECT_TRUE(is(run(kReal, OpCode::min, 2), operand[0], -2));
  EXPECT_TRUE(is(run(kReal, OpCode::max, 2), 3, 5));
  EXPECT_TRUE(is(run(kComplex, OpCode::sum, 1), 3 + operand[0], 3));
  EXPECT_TRUE(is(run(kComplex, OpCode::prod, 1), 3 * operand[0] + 10, 15 - 2 * operand[0]));
}

// What lies in a register beside a number is nobody's business.
TEST(Reduction, ThePaddingOfTheTargetStays) {
  std::array<std::byte, 32> target{};
  std::array<std::byte, 32> operands{};
  for (std::size_t part = 0; part < 2; ++part) {
    const long double one = 1;
    std::memcpy(&target[16 * part], &one, kValueBytes<long double>);
    std::memcpy(&operands[16 * part], &one, kValueBytes<long double>);
    target[16 * part + 15] = std::byte{0xAB};
  }
  reduce(element_type<long double>(), OpCode::sum, target.data(), operands.data(), 1);
  reduce(element_type<std::complex<long double>>(), OpCode::sum, target.data(), operands.data(), 1);
  EXPECT_EQ(load_element<long double>(target.data()), 3.0L);
  EXPECT_EQ(load_element<long double>(&target[16]), 2.0L);
  EXPECT_EQ(target[15], std::byte{0xAB});
  EXPECT_EQ(target[31], std::byte{0xAB});
}

TEST(Reduction, OpaqueElementsAreReplacedAndRead) {
  std::array<std::byte, 36> target{};
  std::array<std::byte, 36> operands{};
  operands.fill(std::byte{7});
  reduce({ElementKind::opaque, 12}, OpCode::no_op, target.data(), nullptr, 3);
  EXPECT_EQ(target[0], std::byte{0});
  reduce({ElementKind::opaque, 12}, OpCode::replace, target.data(), operands.data(), 3);
  EXPECT_EQ(target, operands);
}

TEST(Reduction, ANanWinsWhicheverComesFirst) {
  for (const OpCode code : {OpCode::min, OpCode::max}) {
    for (const double other : {1.0, -kInfinity, kInfinity, kNan}) {
      for (const auto& [first, second] : {std::pair(kNan, other), std::pair(other, kNan)}) {
        std::array<double, 2> targets = {first, first};  // one for each of the two functions
        const std::array<double, 2> operands = {second, second};
        const auto* sent = reinterpret_cast<const std::byte*>(operands.data());
        reduce(element_type<double>(), code, reinterpret_cast<std::byte*>(&targets[0]), sent, 1);
        reduce_shared(element_type<double>(), code, reinterpret_cast<std::byte*>(&targets[1]), sent,
                      nullptr, 1);
        EXPECT_TRUE(std::isnan(targets[0]));
        EXPECT_TRUE(std::isnan(targets[1]));
      }
    }
  }
}

TEST(Reduction, LocationsOfEqualValuesAndOfNansAreTheSmallest) {
  using Pair = ValueIndex<float>;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto combined = [](OpCode code, Pair target, Pair operand) {
    reduce(element_type<Pair>(), code, reinterpret_cast<std::byte*>(&target),
           reinterpret_cast<const std::byte*>(&operand), 1);
    return target.index;
  };
  for (const OpCode code : {OpCode::minloc, OpCode::maxloc}) {
    EXPECT_EQ(combined(code, {2, 9}, {2, 4}), 4);
    EXPECT_EQ(combined(code, {2, 4}, {2, 9}), 4);
    EXPECT_EQ(combined(code, {0.0F, 9}, {-0.0F, 4}), 4);
    EXPECT_EQ(combined(code, {nan, 9}, {2, 4}), 9);
    EXPECT_EQ(combined(code, {2, 4}, {nan, 9}), 9);
    EXPECT_EQ(combined(code, {nan, 9}, {nan, 4}), 4);
  }
}

TEST(Reduction, CompareAndSwapTouchesItsOwnBytesAlone) {
  std::mt19937_64 random(3);
  for (const std::size_t bytes : {1U, 2U, 4U, 8U}) {
    alignas(8) std::array<std::byte, 24> memory{};
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    const auto before = memory;
    std::array<std::byte, 8> swap{};
    std::array<std::byte, 8> result{};
    auto wrong = swap;
    std::memcpy(wrong.data(), &before[8], bytes);
    wrong[bytes - 1] ^= std::byte{1};
    compare_and_swap_shared(bytes, &memory[8], wrong.data(), swap.data(), result.data());
    EXPECT_EQ(memory, before);
    EXPECT_EQ(std::memcmp(result.data(), &before[8], bytes), 0);
    compare_and_swap_shared(bytes, &memory[8], &before[8], swap.data(), result.data());
    auto after = before;
    std::memcpy(&after[8], swap.data(), bytes);
    EXPECT_EQ(memory, after);
    EXPECT_EQ(std::memcmp(result.data(), &before[8], bytes), 0);
  }
}

// Neighbours in one word of 8 bytes, each changed by a thread of its own, by a compare-and-swap
// loop.
TEST(Reduction, ThreadsDoNotDisturbEachOthersNeighbours) {
  constexpr int kRounds = 20'000;
  alignas(8) std::array<std::uint16_t, 4> shared{};
  std::vector<std::thread> threads;
  for (std::size_t mine = 0; mine < shared.size(); ++mine) {
    threads.emplace_back([&, mine] {
      const std::uint16_t factor = 3;
      const std::uint16_t one = 1;
      const auto operate = [&](OpCode code, const std::uint16_t& operand) {
        reduce_shared(element_type<std::uint16_t>(), code,
                      reinterpret_cast<std::byte*>(&shared[mine]),
                      reinterpret_cast<const std::byte*>(&operand), nullptr, 1);
      };
      for (int round = 0; round < kRounds; ++round) {
        operate(OpCode::prod, factor);
        operate(OpCode::sum, one);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint16_t wanted = 0;
  for (int round = 0; round < kRounds; ++round)
    wanted = static_cast<std::uint16_t>(wanted * 3U + 1U);
  for (const std::uint16_t value : shared) EXPECT_EQ(value, wanted);
}

}  // namespace
}  // namespace oriel::base
