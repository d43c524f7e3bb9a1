#pragma once
/// Old values of elements on which several ranks work at once: each alone is open, but together
/// they must tell a story in which no update is lost and none happens twice.

#include <cstdint>
#include <span>
#include <string>

#include "conformance/predictor.hpp"
#include "conformance/program.hpp"

namespace oriel::conformance {

/// An old value that an operation found in an element on which others worked, too.
struct Witness {
  std::uint32_t operation = 0;  ///< its number in the phase
  std::uint32_t index = 0;      ///< of its elements
  std::uint64_t old = 0;        ///< its first eight bytes
};

/// Looks at the elements of `rank`'s parts.
///
/// Sums are ordered: each fetch found what the one before left, or more, if changes that fetched
/// nothing came in between. Minima and the like must lie between what was there before and after.
/// @param witnesses  of all ranks
/// @param after  the prediction of `rank`'s part of a memory at the phase's end
/// @return what is wrong; empty: nothing
[[nodiscard]] std::string check_contests(const Program& program, const Phase& phase, int rank,
                                         const ContestedParts& parts,
                                         std::span<const Witness> witnesses, Predictor& after);

}  // namespace oriel::conformance
