#pragma once
/// The serial oracle: what one operation makes of one element, said independently of the library,
/// and the values that operations carry.
///
/// Values are chosen so that the outcome does not depend on the order in which operations that
/// commute arrive: reals are whole numbers far below 2^24, products of reals are by 1, -1 and 2.

#include <cstddef>
#include <cstdint>

#include <oriel/operations.hpp>

#include "conformance/element.hpp"

namespace oriel::conformance {

/// target = target op operand. Requires: has_meaning(element.type.kind, code).
void apply(const Element& element, OpCode code, std::byte* target, const std::byte* operand);

/// Whether any order of operations with this code leaves the same in the target.
[[nodiscard]] bool commutes(OpCode code) noexcept;

/// Whether a fetch that met `old` can have done so on the way from `before` to `after`, while
/// others did `code` and nothing else. Says no only when that is impossible.
[[nodiscard]] bool plausible(const Element& element, OpCode code, const std::byte* before,
                             const std::byte* old, const std::byte* after);

/// A well mixed function of two numbers: the only source of values.
[[nodiscard]] std::uint64_t mix(std::uint64_t seed, std::uint64_t index) noexcept;

/// Writes value `index` of the series `seed` that an operation `code` sends; OpCode::replace: what
/// puts send and what memory is filled with.
void make_value(const Element& element, OpCode code, std::uint64_t seed, std::uint64_t index,
                std::byte* out);

/// A value that `element` never is: for compare-and-swaps that must not match.
void make_other(const Element& element, const std::byte* value, std::byte* out);

}  // namespace oriel::conformance
