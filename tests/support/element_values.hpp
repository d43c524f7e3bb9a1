#pragma once
/// Elements of every kind for tests of reductions, made from a seed.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include <oriel/operations.hpp>

namespace oriel::test {

/// Calls visit(std::type_identity<T>{}) for a T of every kind that is not opaque and has a C++
/// type.
template <class Visit>
void for_each_type(Visit&& visit) {
  const auto each = [&]<class... T>(std::type_identity<T>... types) { (visit(types), ...); };
  const auto pairs = [&]<class Index>(std::type_identity<Index>) {
    each(std::type_identity<ValueIndex<std::int16_t, Index>>{},
         std::type_identity<ValueIndex<std::int32_t, Index>>{},
         std::type_identity<ValueIndex<std::int64_t, Index>>{},
         std::type_identity<ValueIndex<float, Index>>{},
         std::type_identity<ValueIndex<double, Index>>{});
  };
  each(std::type_identity<std::int8_t>{}, std::type_identity<std::int16_t>{},
       std::type_identity<std::int32_t>{}, std::type_identity<std::int64_t>{},
       std::type_identity<std::uint8_t>{}, std::type_identity<std::uint16_t>{},
       std::type_identity<std::uint32_t>{}, std::type_identity<std::uint64_t>{},
       std::type_identity<float>{}, std::type_identity<double>{}, std::type_identity<long double>{},
       std::type_identity<std::complex<float>>{}, std::type_identity<std::complex<double>>{},
       std::type_identity<std::complex<long double>>{});
  pairs(std::type_identity<std::int32_t>{});
  pairs(std::type_identity<std::int64_t>{});
  each(std::type_identity<ValueIndex<long double, std::int32_t>>{},
       std::type_identity<ValueIndex<float, float>>{},
       std::type_identity<ValueIndex<double, double>>{});
}

[[nodiscard]] inline std::vector<OpCode> all_op_codes() {
  std::vector<OpCode> codes;
  for (int code = 0; code <= static_cast<int>(OpCode::maxloc); ++code) {
    codes.push_back(static_cast<OpCode>(code));
  }
  return codes;
}

/// Any bits of an integer, zero every now and then; of other types small whole numbers, on which
/// arithmetic is exact; few different ones in pairs, so that values are equal now and then.
template <class T>
[[nodiscard]] T make_value(std::mt19937_64& random) {
  const auto small = [&](unsigned choices) {
    return static_cast<int>(random() % choices) - static_cast<int>(choices / 2);
  };
  if constexpr (std::integral<T>) {
    return random() % 4 == 0 ? T{} : static_cast<T>(random());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(small(2000));
  } else if constexpr (requires(T number) { number.imag(); }) {
    using Part = typename T::value_type;
    return {static_cast<Part>(small(1000)), static_cast<Part>(small(1000))};
  } else {
    return {static_cast<decltype(T::value)>(small(5)), static_cast<decltype(T::index)>(small(9))};
  }
}

/// Fills `bytes` with elements of a type, padding with any bits.
inline void fill_elements(ElementType type, std::span<std::byte> bytes, std::mt19937_64& random) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(&bytes[at], &bits, std::min(bytes.size() - at, sizeof bits));
  }
  for_each_type([&]<class T>(std::type_identity<T>) {
    if (element_type<T>() != type) return;
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const T value = make_value<T>(random);
      if constexpr (requires { value.index; }) {
        std::memcpy(&bytes[at + offsetof(T, value)], &value.value, sizeof value.value);
        std::memcpy(&bytes[at + offsetof(T, index)], &value.index, sizeof value.index);
      } else {
        std::memcpy(&bytes[at], &value, sizeof value);
      }
    }
  });
}

}  // namespace oriel::test
