#pragma once
/// Operations: what an accumulate does to the elements it meets, and the types it can do it to
/// [MPI_Op, predefined].
///
///     win.accumulate(values, oriel::op::sum, target, offset);
///
/// Integers wrap around. min and max: a NaN wins against every number, whatever the order in which
/// accumulates arrive. minloc and maxloc keep the whole pair of the better value, of equal values
/// the one with the smaller index; a NaN is better than every number. Logical operations take what
/// is not zero as true, and store 0 or 1. What computes a long double leaves the padding behind it
/// as it was in the target.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <oriel/export.hpp>

namespace oriel {

enum class OpCode : std::uint8_t {
  sum,
  prod,
  min,
  max,
  band,  ///< bitwise
  bor,
  bxor,
  land,  ///< logical
  lor,
  lxor,
  replace,  ///< the target becomes what is sent: an atomic put
  no_op,    ///< the target stays as it is: an atomic get
  minloc,
  maxloc,
};

/// What an element is, as far as operations tell one type from another.
enum class ElementKind : std::uint8_t {
  opaque,  ///< bytes of which nothing is known
  signed8,
  signed16,
  signed32,
  signed64,
  unsigned8,  ///< bool and std::byte too
  unsigned16,
  unsigned32,
  unsigned64,
  float32,
  float64,
  long_double,  ///< 10 bytes of value in 16, where it is the processor's own (x86)
  float128,     ///< as MPI_REAL16: known at run time alone
  complex32x2,  ///< std::complex<float>
  complex64x2,  ///< std::complex<double>
  complex_long_double,
  complex128x2,      ///< as MPI_COMPLEX32: known at run time alone
  signed16_index32,  ///< ValueIndex<std::int16_t, std::int32_t>, and so on
  signed32_index32,
  signed64_index32,
  float32_index32,
  float64_index32,
  signed16_index64,
  signed32_index64,
  signed64_index64,
  float32_index64,
  float64_index64,
  long_double_index32,
  float32_float32,  ///< ValueIndex<float, float>: an index that is a number of the value's type
  float64_float64,
};

/// A type that is known only at run time.
struct ElementType {
  ElementKind kind = ElementKind::opaque;
  std::uint32_t bytes = 1;
  friend constexpr bool operator==(const ElementType&, const ElementType&) = default;
};

[[nodiscard]] ORIEL_API std::string_view to_string(OpCode code) noexcept;
[[nodiscard]] ORIEL_API std::string_view to_string(ElementKind kind) noexcept;

/// The operations as arguments: `oriel::op::sum` and so on. Each is a type of its own, so that one
/// without meaning for the window's elements does not compile.
namespace op {
template <OpCode Code>
struct Operation {
  static constexpr OpCode code = Code;
};
using Sum = Operation<OpCode::sum>;
using Prod = Operation<OpCode::prod>;
using Min = Operation<OpCode::min>;
using Max = Operation<OpCode::max>;
using Band = Operation<OpCode::band>;
using Bor = Operation<OpCode::bor>;
using Bxor = Operation<OpCode::bxor>;
using Land = Operation<OpCode::land>;
using Lor = Operation<OpCode::lor>;
using Lxor = Operation<OpCode::lxor>;
using Replace = Operation<OpCode::replace>;
using NoOp = Operation<OpCode::no_op>;
using Minloc = Operation<OpCode::minloc>;
using Maxloc = Operation<OpCode::maxloc>;

inline constexpr Sum sum{};
inline constexpr Prod prod{};
inline constexpr Min min{};
inline constexpr Max max{};
inline constexpr Band band{};
inline constexpr Bor bor{};
inline constexpr Bxor bxor{};
inline constexpr Land land{};
inline constexpr Lor lor{};
inline constexpr Lxor lxor{};
inline constexpr Replace replace{};
inline constexpr NoOp no_op{};
inline constexpr Minloc minloc{};
inline constexpr Maxloc maxloc{};
}  // namespace op

/// What minloc and maxloc work on: a value and where it was found [MPI_2INT, MPI_DOUBLE_INT, …].
/// V: a signed integer of 2, 4 or 8 bytes, float or double; I: a signed integer of 4 or 8 bytes.
/// Besides, as MPI has them: long double with one of 4 bytes [MPI_LONG_DOUBLE_INT], two floats and
/// two doubles [MPI_2REAL, MPI_2DOUBLE_PRECISION], whose index is not a NaN.
template <class V, class I = int>
struct ValueIndex {
  static_assert((std::signed_integral<V> && sizeof(V) >= 2) || std::floating_point<V>,
                "a value is a signed integer of 2, 4 or 8 bytes, or floating point");
  static_assert((std::signed_integral<I> && (sizeof(I) == 4 || sizeof(I) == 8)) ||
                    (std::floating_point<I> && std::same_as<V, I> && sizeof(I) <= 8),
                "an index is a signed integer of 4 or 8 bytes, or a float or double as the value");
  static_assert(!std::same_as<V, long double> || sizeof(I) == 4,
                "the index of a long double has 4 bytes");
  V value;
  I index;
  friend constexpr bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

namespace detail {

template <class T>
inline constexpr bool is_value_index = false;
template <class V, class I>
inline constexpr bool is_value_index<ValueIndex<V, I>> = true;

/// Complex numbers are known by what they can do, which spares programs the header <complex>: a
/// real and an imaginary part, in this order, and nothing else.
template <class T, class Part>
concept ComplexOf = std::same_as<typename T::value_type, Part> && sizeof(T) == 2 * sizeof(Part) &&
                    requires(const T number) {
  { number.real() } -> std::same_as<Part>;
  { number.imag() } -> std::same_as<Part>;
};

constexpr ElementKind nth(ElementKind first, unsigned steps) {
  return static_cast<ElementKind>(static_cast<unsigned>(first) + steps);
}
/// 0, 1, 2, 3 for 1, 2, 4, 8 bytes.
constexpr unsigned log2_of(std::size_t bytes) {
  return bytes == 1 ? 0 : 1 + log2_of(bytes / 2);
}

template <class V, class I>
constexpr ElementKind kind_of_pair() {
  if constexpr (std::same_as<V, long double>) return ElementKind::long_double_index32;
  if constexpr (std::floating_point<I>) {
    return sizeof(I) == 4 ? ElementKind::float32_float32 : ElementKind::float64_float64;
  }
  constexpr auto first =
      sizeof(I) == 4 ? ElementKind::signed16_index32 : ElementKind::signed16_index64;
  if constexpr (std::integral<V>) return nth(first, log2_of(sizeof(V)) - 1);
  return nth(first, sizeof(V) == 4 ? 3 : 4);
}

template <class T>
constexpr ElementKind kind_of() {
  if constexpr (std::same_as<T, std::byte>) {
    return ElementKind::unsigned8;
  } else if constexpr (std::integral<T> && sizeof(T) <= 8) {
    return nth(std::signed_integral<T> ? ElementKind::signed8 : ElementKind::unsigned8,
               log2_of(sizeof(T)));
  } else if constexpr (std::same_as<T, float>) {
    return ElementKind::float32;
  } else if constexpr (std::same_as<T, double>) {
    return ElementKind::float64;
  } else if constexpr (std::same_as<T, long double>) {
    return ElementKind::long_double;
  } else if constexpr (ComplexOf<T, float>) {
    return ElementKind::complex32x2;
  } else if constexpr (ComplexOf<T, double>) {
    return ElementKind::complex64x2;
  } else if constexpr (ComplexOf<T, long double>) {
    return ElementKind::complex_long_double;
  } else if constexpr (is_value_index<T>) {
    return kind_of_pair<decltype(T::value), decltype(T::index)>();
  } else {
    return ElementKind::opaque;
  }
}

constexpr bool is_between(ElementKind kind, ElementKind first, ElementKind last) {
  return first <= kind && kind <= last;
}

}  // namespace detail

/// The ElementType of T; opaque for what operations know nothing of.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] constexpr ElementType element_type() {
  return {detail::kind_of<std::remove_cv_t<T>>(), static_cast<std::uint32_t>(sizeof(T))};
}

/// Whether an operation has a meaning for a kind of element [MPI-3.1, 5.9.2].
[[nodiscard]] constexpr bool has_meaning(ElementKind kind, OpCode code) noexcept {
  using enum ElementKind;
  const bool integer = detail::is_between(kind, signed8, unsigned64);
  const bool real = detail::is_between(kind, signed8, float128);
  const bool number = detail::is_between(kind, signed8, complex128x2);
  switch (code) {
    case OpCode::sum:
    case OpCode::prod:
      return number;
    case OpCode::min:
    case OpCode::max:
      return real;
    case OpCode::band:
    case OpCode::bor:
    case OpCode::bxor:
    case OpCode::land:
    case OpCode::lor:
    case OpCode::lxor:
      return integer;
    case OpCode::replace:
    case OpCode::no_op:
      return kind <= float64_float64;
    case OpCode::minloc:
    case OpCode::maxloc:
      return detail::is_between(kind, signed16_index32, float64_float64);
  }
  return false;
}

/// Operations `Op` that can be accumulated on elements of type T: those with a meaning, of which
/// bool has the logical ones and std::byte the bitwise ones; replace and no_op on all types that
/// are trivially copyable.
template <class T, class Op>
concept Accumulable =
    std::is_trivially_copyable_v<T> && !std::is_const_v<T> &&
    has_meaning(detail::kind_of<T>(), Op::code) &&
    (!std::same_as<T, bool> || Op::code >= OpCode::land) &&
    (!std::same_as<T, std::byte> || (Op::code >= OpCode::band && Op::code <= OpCode::bxor) ||
     Op::code >= OpCode::replace);

/// Types that compare_and_swap compares, bit by bit: up to 16 bytes. Padding is compared too: two
/// long doubles of the same value may differ in it, as may two pairs.
template <class T>
concept Swappable = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

/// For callers that know types and operations only at run time.
/// Errors: invalid_argument (the bytes are not those of the kind), unsupported (no meaning), with
/// `operation` as the call's name. Threads: any.
ORIEL_API void check_supported(std::string_view operation, ElementType type, OpCode code);

}  // namespace oriel
