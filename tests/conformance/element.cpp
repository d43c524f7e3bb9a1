#include "conformance/element.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace oriel::conformance {
namespace {

struct ScalarFacts {
  std::size_t bytes;
  bool is_signed;
  bool is_floating;
};
constexpr std::array<ScalarFacts, 10> kScalars = {{{1, true, false},
                                                   {2, true, false},
                                                   {4, true, false},
                                                   {8, true, false},
                                                   {1, false, false},
                                                   {2, false, false},
                                                   {4, false, false},
                                                   {8, false, false},
                                                   {4, true, true},
                                                   {8, true, true}}};

const ScalarFacts& facts(Scalar scalar) noexcept {
  return kScalars[static_cast<std::size_t>(scalar)];
}

constexpr Element number(std::string_view name, ElementKind kind, Scalar scalar,
                         std::uint32_t bytes) {
  return {name, {kind, bytes}, bytes, Family::number, {scalar, 0}, {}};
}

constexpr Element complex(std::string_view name, ElementKind kind, Scalar scalar,
                          std::uint32_t part) {
  return {name,        {kind, 2 * part}, 2 * part == 8 ? 8U : part, Family::complex,
          {scalar, 0}, {scalar, part}};
}

template <class V, class I>
constexpr Element pair(std::string_view name, Scalar value, Scalar index) {
  using Type = ValueIndex<V, I>;
  // What is as large as a word must lie as one.
  constexpr std::size_t kAlignment = sizeof(Type) == 8 ? 8 : alignof(Type);
  return {name,         element_type<Type>(),           kAlignment,
          Family::pair, {value, offsetof(Type, value)}, {index, offsetof(Type, index)}};
}

constexpr Element opaque(std::string_view name, std::uint32_t bytes) {
  const bool is_word = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  return {name, {ElementKind::opaque, bytes}, is_word ? bytes : 1U, Family::opaque, {}, {}};
}

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

constexpr std::array<Element, 25> kElements = {{
    number("int8", ElementKind::signed8, Scalar::i8, 1),
    number("int16", ElementKind::signed16, Scalar::i16, 2),
    number("int32", ElementKind::signed32, Scalar::i32, 4),
    number("int64", ElementKind::signed64, Scalar::i64, 8),
    number("uint8", ElementKind::unsigned8, Scalar::u8, 1),
    number("uint16", ElementKind::unsigned16, Scalar::u16, 2),
    number("uint32", ElementKind::unsigned32, Scalar::u32, 4),
    number("uint64", ElementKind::unsigned64, Scalar::u64, 8),
    number("float", ElementKind::float32, Scalar::f32, 4),
    number("double", ElementKind::float64, Scalar::f64, 8),
    complex("complex_float", ElementKind::complex32x2, Scalar::f32, 4),
    complex("complex_double", ElementKind::complex64x2, Scalar::f64, 8),
    pair<i16, i32>("int16_int32", Scalar::i16, Scalar::i32),
    pair<i32, i32>("int32_int32", Scalar::i32, Scalar::i32),
    pair<i64, i32>("int64_int32", Scalar::i64, Scalar::i32),
    pair<float, i32>("float_int32", Scalar::f32, Scalar::i32),
    pair<double, i32>("double_int32", Scalar::f64, Scalar::i32),
    pair<i16, i64>("int16_int64", Scalar::i16, Scalar::i64),
    pair<i32, i64>("int32_int64", Scalar::i32, Scalar::i64),
    pair<i64, i64>("int64_int64", Scalar::i64, Scalar::i64),
    pair<float, i64>("float_int64", Scalar::f32, Scalar::i64),
    pair<double, i64>("double_int64", Scalar::f64, Scalar::i64),
    opaque("bytes8", 8),
    opaque("bytes12", 12),
    opaque("bytes24", 24),
}};

std::string part_text(Part part, const std::byte* value) {
  if (is_floating(part.scalar)) return fmt::format("{}", load_real(part, value));
  const std::uint64_t bits = load_integer(part, value);
  return is_signed(part.scalar) ? fmt::format("{}", static_cast<std::int64_t>(bits))
                                : fmt::format("{}", bits);
}

bool same_part(Part part, const std::byte* a, const std::byte* b) noexcept {
  if (std::memcmp(a + part.offset, b + part.offset, bytes_of(part.scalar)) == 0) return true;
  // Only zeros of either sign are equal and not the same bits.
  return is_floating(part.scalar) && !(load_real(part, a) < load_real(part, b)) &&
         !(load_real(part, b) < load_real(part, a)) && load_real(part, a) < 1.0 &&
         load_real(part, a) > -1.0;
}

}  // namespace

std::size_t bytes_of(Scalar scalar) noexcept {
  return facts(scalar).bytes;
}

bool is_floating(Scalar scalar) noexcept {
  return facts(scalar).is_floating;
}

bool is_signed(Scalar scalar) noexcept {
  return facts(scalar).is_signed;
}

std::span<const Element> elements() {
  return kElements;
}

const Element& element_named(std::string_view name) {
  for (const Element& element : kElements) {
    if (element.name == name) return element;
  }
  throw std::out_of_range(fmt::format("no element type is called {}", name));
}

std::uint64_t load_integer(Part part, const std::byte* element) noexcept {
  const std::size_t bytes = bytes_of(part.scalar);
  std::uint64_t value = 0;
  std::memcpy(&value, element + part.offset, bytes);
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  return is_signed(part.scalar) ? (value ^ sign) - sign : value;
}

void store_integer(Part part, std::byte* element, std::uint64_t value) noexcept {
  std::memcpy(element + part.offset, &value, bytes_of(part.scalar));
}

double load_real(Part part, const std::byte* element) noexcept {
  if (part.scalar == Scalar::f32) {
    float value = 0;
    std::memcpy(&value, element + part.offset, sizeof value);
    return static_cast<double>(value);
  }
  double value = 0;
  std::memcpy(&value, element + part.offset, sizeof value);
  return value;
}

void store_real(Part part, std::byte* element, double value) noexcept {
  if (part.scalar == Scalar::f32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(element + part.offset, &narrow, sizeof narrow);
  } else {
    std::memcpy(element + part.offset, &value, sizeof value);
  }
}

bool equal(const Element& element, const std::byte* a, const std::byte* b) noexcept {
  switch (element.family) {
    case Family::opaque:
      return std::memcmp(a, b, element.bytes()) == 0;
    case Family::number:
      return same_part(element.first, a, b);
    case Family::complex:
    case Family::pair:
      return same_part(element.first, a, b) && same_part(element.second, a, b);
  }
  return false;
}

std::string to_text(const Element& element, const std::byte* value) {
  switch (element.family) {
    case Family::number:
      return part_text(element.first, value);
    case Family::complex:
      return fmt::format("({},{})", part_text(element.first, value),
                         part_text(element.second, value));
    case Family::pair:
      return fmt::format("{}@{}", part_text(element.first, value),
                         part_text(element.second, value));
    case Family::opaque:
      break;
  }
  std::string text = "0x";
  for (std::size_t i = 0; i < element.bytes(); ++i) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(value[i]));
  }
  return text;
}

}  // namespace oriel::conformance
