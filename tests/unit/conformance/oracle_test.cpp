// The oracle says what the standard says, worked out by hand here.

#include "conformance/oracle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>

namespace oriel::conformance {
namespace {

template <class T>
T applied(std::string_view element, OpCode code, T target, T operand) {
  const Element& type = element_named(element);
  EXPECT_EQ(type.bytes(), sizeof(T));
  std::array<std::byte, sizeof(T)> raw{};
  std::array<std::byte, sizeof(T)> other{};
  std::memcpy(raw.data(), &target, sizeof(T));
  std::memcpy(other.data(), &operand, sizeof(T));
  apply(type, code, raw.data(), other.data());
  return std::bit_cast<T>(raw);
}

TEST(Oracle, IntegersWrapAroundInTheirOwnWidth) {
  EXPECT_EQ(applied<std::int8_t>("int8", OpCode::sum, 127, 1), -128);
  EXPECT_EQ(applied<std::uint16_t>("uint16", OpCode::prod, 300, 300), 24464);
  EXPECT_EQ(
      applied("int64", OpCode::sum, std::numeric_limits<std::int64_t>::max(), std::int64_t{1}),
      std::numeric_limits<std::int64_t>::min());
}

TEST(Oracle, OrderRespectsTheSign) {
  EXPECT_EQ(applied<std::int32_t>("int32", OpCode::min, -1, 1), -1);
  EXPECT_EQ(applied<std::uint32_t>("uint32", OpCode::min, ~0U, 1), 1U);
  EXPECT_EQ(applied<std::int8_t>("int8", OpCode::max, -128, -127), -127);
  EXPECT_EQ(applied("float", OpCode::max, -2.5F, 1.0F), 1.0F);
}

TEST(Oracle, BitsAndTruth) {
  EXPECT_EQ(applied<std::uint8_t>("uint8", OpCode::band, 0xf0, 0x3c), 0x30);
  EXPECT_EQ(applied<std::uint8_t>("uint8", OpCode::bxor, 0xf0, 0x3c), 0xcc);
  EXPECT_EQ(applied<std::int16_t>("int16", OpCode::land, 4, 2), 1);
  EXPECT_EQ(applied<std::int16_t>("int16", OpCode::lxor, 4, 2), 0);
  EXPECT_EQ(applied<std::int16_t>("int16", OpCode::lor, 0, 256), 1);
}

TEST(Oracle, ComplexNumbers) {
  using Complex = std::complex<double>;
  EXPECT_EQ(applied("complex_double", OpCode::sum, Complex(1, 2), Complex(3, -5)), Complex(4, -3));
  EXPECT_EQ(applied("complex_double", OpCode::prod, Complex(1, 2), Complex(3, 4)), Complex(-5, 10));
  EXPECT_EQ(
      applied("complex_float", OpCode::prod, std::complex<float>(0, 1), std::complex<float>(0, 1)),
      std::complex<float>(-1, 0));
}

TEST(Oracle, PairsKeepTheBetterValueAndTheSmallerIndex) {
  using Pair = ValueIndex<std::int32_t, std::int32_t>;
  EXPECT_EQ(applied("int32_int32", OpCode::minloc, Pair{3, 9}, Pair{2, 50}), (Pair{2, 50}));
  EXPECT_EQ(applied("int32_int32", OpCode::minloc, Pair{2, 9}, Pair{2, 4}), (Pair{2, 4}));
  EXPECT_EQ(applied("int32_int32", OpCode::maxloc, Pair{2, 4}, Pair{2, 9}), (Pair{2, 4}));
  EXPECT_EQ(applied("int32_int32", OpCode::maxloc, Pair{-2, 4}, Pair{-3, 1}), (Pair{-2, 4}));
}

TEST(Oracle, ReplaceAndNothing) {
  EXPECT_EQ(applied("double", OpCode::replace, 1.0, 2.0), 2.0);
  EXPECT_EQ(applied("double", OpCode::no_op, 1.0, 2.0), 1.0);
}

// What is taken to commute does, with the values that are sent: any order, the same bits but for
// zeros.
TEST(Oracle, OrdersOfCommutingOperationsEndAlike) {
  for (const Element& element : elements()) {
    for (int code = 0; code < 14; ++code) {
      const auto op = static_cast<OpCode>(code);
      if (!has_meaning(element.type.kind, op) || !commutes(op)) continue;
      std::array<std::byte, 32> forwards{};
      make_value(element, OpCode::replace, 5, 0, forwards.data());
      std::array<std::byte, 32> backwards = forwards;
      constexpr std::uint64_t kCount = 12;
      for (std::uint64_t i = 0; i < kCount; ++i) {
        std::array<std::byte, 32> operand{};
        make_value(element, op, 7, i, operand.data());
        apply(element, op, forwards.data(), operand.data());
        make_value(element, op, 7, kCount - 1 - i, operand.data());
        apply(element, op, backwards.data(), operand.data());
      }
      EXPECT_TRUE(equal(element, forwards.data(), backwards.data()))
          << element.name << " " << to_string(op);
    }
  }
}

TEST(Oracle, OtherValuesDiffer) {
  for (const Element& element : elements()) {
    std::array<std::byte, 32> value{};
    std::array<std::byte, 32> other{};
    make_value(element, OpCode::replace, 1, 2, value.data());
    make_other(element, value.data(), other.data());
    EXPECT_NE(std::memcmp(value.data(), other.data(), element.bytes()), 0) << element.name;
  }
}

TEST(Oracle, OldValuesThatCannotHaveBeen) {
  const Element& type = element_named("int32");
  const auto is_plausible = [&](OpCode op, int before, int old, int after) {
    return plausible(type, op, reinterpret_cast<std::byte*>(&before),
                     reinterpret_cast<std::byte*>(&old), reinterpret_cast<std::byte*>(&after));
  };
  EXPECT_TRUE(is_plausible(OpCode::min, 9, 5, 2));
  EXPECT_FALSE(is_plausible(OpCode::min, 9, 1, 2));
  EXPECT_FALSE(is_plausible(OpCode::max, 2, 10, 9));
  EXPECT_TRUE(is_plausible(OpCode::bor, 1, 3, 7));
  EXPECT_FALSE(is_plausible(OpCode::bor, 1, 2, 7));
  EXPECT_FALSE(is_plausible(OpCode::band, 7, 8, 1));
}

TEST(Elements, AreThoseOfTheLibrary) {
  for (const Element& element : elements()) {
    EXPECT_NO_THROW(check_supported("test", element.type, OpCode::replace)) << element.name;
    EXPECT_EQ(element.bytes() % element.alignment, 0U) << element.name;
  }
  EXPECT_EQ(element_named("complex_float").type, element_type<std::complex<float>>());
  EXPECT_EQ(element_named("double_int64").type, (element_type<ValueIndex<double, std::int64_t>>()));
}

TEST(Elements, ZerosOfEitherSignAreEqualAndNoOtherBits) {
  const Element& type = element_named("double");
  const auto same = [&](double a, double b) {
    return equal(type, reinterpret_cast<std::byte*>(&a), reinterpret_cast<std::byte*>(&b));
  };
  EXPECT_TRUE(same(0.0, -0.0));
  EXPECT_FALSE(same(0.0, 5e-324));
  EXPECT_FALSE(same(1.0, -1.0));
  EXPECT_FALSE(same(std::numeric_limits<double>::quiet_NaN(), 0.0));
}

}  // namespace
}  // namespace oriel::conformance
