#pragma once
/// The shrinker: makes a failing program shorter, as long as it fails.

#include <functional>

#include "conformance/program.hpp"

namespace oriel::conformance {

/// Takes away phases, epochs, operations and windows, many at a time and then one by one, until
/// nothing more can go. What is taken away leaves a legal program.
/// @param fails  whether a program still fails, with the same answer on all ranks
/// @param tries  how often it may be asked
[[nodiscard]] Program shrink(Program program, const std::function<bool(const Program&)>& fails,
                             int tries);

}  // namespace oriel::conformance
