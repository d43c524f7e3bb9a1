#pragma once
/// The element types that the suite works on, known by their parts, so that nothing here or in the
/// oracle is written once per type.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <oriel/operations.hpp>

namespace oriel::conformance {

enum class Scalar : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

[[nodiscard]] std::size_t bytes_of(Scalar scalar) noexcept;
[[nodiscard]] bool is_floating(Scalar scalar) noexcept;
[[nodiscard]] bool is_signed(Scalar scalar) noexcept;

/// A number within an element.
struct Part {
  Scalar scalar{};
  std::size_t offset = 0;
};

enum class Family : std::uint8_t { opaque, number, complex, pair };

struct Element {
  std::string_view name;
  ElementType type;
  std::size_t alignment;  ///< that atomics ask for
  Family family;
  Part first{};   ///< the number, the real part, the value
  Part second{};  ///< the imaginary part, the index
  [[nodiscard]] std::size_t bytes() const noexcept { return type.bytes; }
};

[[nodiscard]] std::span<const Element> elements();
/// Errors: std::out_of_range.
[[nodiscard]] const Element& element_named(std::string_view name);

/// Integers as 64 bits, extended by their sign if they have one; stored by their lowest bytes.
[[nodiscard]] std::uint64_t load_integer(Part part, const std::byte* element) noexcept;
void store_integer(Part part, std::byte* element, std::uint64_t value) noexcept;
/// float and double alike: all values of the suite are whole numbers that a float holds.
[[nodiscard]] double load_real(Part part, const std::byte* element) noexcept;
void store_real(Part part, std::byte* element, double value) noexcept;

/// Whether two elements hold the same: bit by bit, but for the sign of zeros, which depends on the
/// order of operations, and for the padding of pairs.
[[nodiscard]] bool equal(const Element& element, const std::byte* a, const std::byte* b) noexcept;

/// "3", "(1,2)" for complex numbers, "3@7" for pairs, hexadecimal for what is opaque.
[[nodiscard]] std::string to_text(const Element& element, const std::byte* value);

}  // namespace oriel::conformance
