#pragma once
/// The generator: random legal programs, the same on every rank.

#include <cstdint>

#include "conformance/cases.hpp"
#include "conformance/program.hpp"

namespace oriel::conformance {

/// The program of a seed. Many epochs of mixed kinds, on windows of several kinds and types that
/// are created and freed on the way and may lie over each other; operations of random forms,
/// layouts and completions; accumulates that meet on purpose. Pure.
[[nodiscard]] Program make_program(std::uint64_t seed, const Setting& setting);

}  // namespace oriel::conformance
