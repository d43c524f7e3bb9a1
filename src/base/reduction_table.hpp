#pragma once
/// The meaning of every operation on every kind of element, once; and a table of functions made of
/// them. For the two files that have such a table.

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <oriel/operations.hpp>

namespace oriel::base {

/// Of 128 bits, which need no library: the compiler's own runtime adds and multiplies them.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Float128;
#else
using Float128 = long double;
#endif

template <class Part>
struct ComplexNumber {
  Part real;
  Part imaginary;
};

template <class T>
[[nodiscard]] T load_element(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Bytes of a number's value: what comes behind them is whatever was in a register's neighbourhood,
/// and no business of the memory that the number is stored to.
template <class T>
inline constexpr std::size_t kValueBytes =
    std::same_as<T, long double>&& std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(T);

template <class T>
void store_element(const T& value, std::byte* to) noexcept {
  std::memcpy(to, &value, kValueBytes<T>);
}
template <class Part>
void store_element(const ComplexNumber<Part>& value, std::byte* to) noexcept {
  store_element(value.real, to);
  store_element(value.imaginary, to + sizeof(Part));
}

template <class T>
[[nodiscard]] constexpr bool is_nan(T value) noexcept {
  if constexpr (std::integral<T>) return false;
  return value != value;
}

// Operations that compute a new value from the target's and the operand's. Arithmetic on integers
// is on unsigned ones, never narrower than `unsigned`: promoted to int, it could overflow.

template <class T>
using Wide = std::conditional_t<std::integral<T>, std::common_type_t<T, unsigned>, T>;

struct Sum {
  template <class T>
  static T of(T target, T operand) noexcept {
    return static_cast<T>(Wide<T>{target} + Wide<T>{operand});
  }
  template <class Part>
  static ComplexNumber<Part> of(ComplexNumber<Part> target, ComplexNumber<Part> operand) noexcept {
    return {target.real + operand.real, target.imaginary + operand.imaginary};
  }
};
struct Prod {
  template <class T>
  static T of(T target, T operand) noexcept {
    return static_cast<T>(Wide<T>{target} * Wide<T>{operand});
  }
  template <class Part>
  static ComplexNumber<Part> of(ComplexNumber<Part> target, ComplexNumber<Part> operand) noexcept {
    return {target.real * operand.real - target.imaginary * operand.imaginary,
            target.real * operand.imaginary + target.imaginary * operand.real};
  }
};
struct Min {
  template <class T>
  static T of(T target, T operand) noexcept {
    return ((operand < target) | is_nan(operand)) ? operand : target;
  }
};
struct Max {
  template <class T>
  static T of(T target, T operand) noexcept {
    return ((operand > target) | is_nan(operand)) ? operand : target;
  }
};
struct Band {
  template <class T>
  static T of(T target, T operand) noexcept {
    return target & operand;
  }
};
struct Bor {
  template <class T>
  static T of(T target, T operand) noexcept {
    return target | operand;
  }
};
struct Bxor {
  template <class T>
  static T of(T target, T operand) noexcept {
    return target ^ operand;
  }
};
struct Land {
  template <class T>
  static T of(T target, T operand) noexcept {
    return (target != 0) & (operand != 0);
  }
};
struct Lor {
  template <class T>
  static T of(T target, T operand) noexcept {
    return (target != 0) | (operand != 0);
  }
};
struct Lxor {
  template <class T>
  static T of(T target, T operand) noexcept {
    return (target != 0) ^ (operand != 0);
  }
};

// Operations that choose one of two pairs, and then all of its bytes, padding included.

template <class Pair>
[[nodiscard]] bool comes_first(bool better, bool worse, Pair target, Pair operand) noexcept {
  return better || (!worse && operand.index < target.index);
}
struct Minloc {
  template <class Pair>
  static bool takes_operand(Pair target, Pair operand) noexcept {
    const auto less = [](auto a, auto b) { return a < b || (is_nan(a) && !is_nan(b)); };
    return comes_first(less(operand.value, target.value), less(target.value, operand.value), target,
                       operand);
  }
};
struct Maxloc {
  template <class Pair>
  static bool takes_operand(Pair target, Pair operand) noexcept {
    const auto more = [](auto a, auto b) { return a > b || (is_nan(a) && !is_nan(b)); };
    return comes_first(more(operand.value, target.value), more(target.value, operand.value), target,
                       operand);
  }
};

inline constexpr std::size_t kKinds = static_cast<std::size_t>(ElementKind::float64_float64) + 1;
inline constexpr std::size_t kOpCodes = static_cast<std::size_t>(OpCode::maxloc) + 1;

/// A function for each pair of kind and operation: `Make::of<T, Operation>()`, or null without a
/// meaning. replace and no_op, which know bytes alone, are not in it.
template <class Make>
class ReductionTable {
 public:
  using Function = typename Make::Function;

  constexpr ReductionTable() {
    add_integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(ElementKind::signed8);
    add_integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(ElementKind::unsigned8);
    add_real<float>(ElementKind::float32);
    add_real<double>(ElementKind::float64);
    add_real<long double>(ElementKind::long_double);
    add_real<Float128>(ElementKind::float128);
    add_number<ComplexNumber<float>>(ElementKind::complex32x2);
    add_number<ComplexNumber<double>>(ElementKind::complex64x2);
    add_number<ComplexNumber<long double>>(ElementKind::complex_long_double);
    add_number<ComplexNumber<Float128>>(ElementKind::complex128x2);
    add_pairs<std::int32_t>(ElementKind::signed16_index32);
    add_pairs<std::int64_t>(ElementKind::signed16_index64);
    add_pair<ValueIndex<long double, std::int32_t>>(ElementKind::long_double_index32);
    add_pair<ValueIndex<float, float>>(ElementKind::float32_float32);
    add_pair<ValueIndex<double, double>>(ElementKind::float64_float64);
  }

  [[nodiscard]] constexpr Function at(ElementKind kind, OpCode code) const noexcept {
    return entries_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(code)];
  }

 private:
  template <class T, class Operation>
  constexpr void set(ElementKind kind, OpCode code) {
    entries_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(code)] =
        Make::template of<T, Operation>();
  }
  template <class T>
  constexpr void add_number(ElementKind kind) {
    set<T, Sum>(kind, OpCode::sum);
    set<T, Prod>(kind, OpCode::prod);
  }
  template <class T>
  constexpr void add_real(ElementKind kind) {
    if constexpr (!std::integral<T>) add_number<T>(kind);
    set<T, Min>(kind, OpCode::min);
    set<T, Max>(kind, OpCode::max);
  }
  /// Signed ones share the functions of the unsigned ones, of which only min and max differ.
  template <class T>
  constexpr void add_integer(ElementKind kind) {
    using Bits = std::make_unsigned_t<T>;
    add_real<T>(kind);
    add_number<Bits>(kind);
    set<Bits, Band>(kind, OpCode::band);
    set<Bits, Bor>(kind, OpCode::bor);
    set<Bits, Bxor>(kind, OpCode::bxor);
    set<Bits, Land>(kind, OpCode::land);
    set<Bits, Lor>(kind, OpCode::lor);
    set<Bits, Lxor>(kind, OpCode::lxor);
  }
  template <class... Ts>
  constexpr void add_integers(ElementKind first) {
    unsigned steps = 0;
    (add_integer<Ts>(detail::nth(first, steps++)), ...);
  }
  template <class Pair>
  constexpr void add_pair(ElementKind kind) {
    set<Pair, Minloc>(kind, OpCode::minloc);
    set<Pair, Maxloc>(kind, OpCode::maxloc);
  }
  template <class Index>
  constexpr void add_pairs(ElementKind first) {
    add_pair<ValueIndex<std::int16_t, Index>>(first);
    add_pair<ValueIndex<std::int32_t, Index>>(detail::nth(first, 1));
    add_pair<ValueIndex<std::int64_t, Index>>(detail::nth(first, 2));
    add_pair<ValueIndex<float, Index>>(detail::nth(first, 3));
    add_pair<ValueIndex<double, Index>>(detail::nth(first, 4));
  }

  std::array<std::array<Function, kOpCodes>, kKinds> entries_{};
};

}  // namespace oriel::base
