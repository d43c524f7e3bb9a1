#pragma once

#include <cstddef>

#include <oriel/operations.hpp>

namespace oriel::base {

/// target[i] = op(target[i], operands[i]), on memory that nobody else touches. No alignment is
/// needed. Ranges may be the same, but not overlap otherwise.
/// Requires of both functions: check_supported(). `operands` is not looked at by no_op.
void reduce(ElementType type, OpCode code, std::byte* target, const std::byte* operands,
            std::size_t count) noexcept;

/// The same by CPU atomics, each element on its own and by its own bytes alone, on memory that
/// others change by CPU atomics meanwhile; results[i] becomes the value before unless `results` is
/// null. Requires: elements of 1, 2, 4 or 8 bytes, at multiples of their size in `shared`.
void reduce_shared(ElementType type, OpCode code, std::byte* shared, const std::byte* operands,
                   std::byte* results, std::size_t count) noexcept;

/// result = shared; if it equals `compare`, shared = swap. Requires: as reduce_shared().
void compare_and_swap_shared(std::size_t bytes, std::byte* shared, const std::byte* compare,
                             const std::byte* swap, std::byte* result) noexcept;

}  // namespace oriel::base
