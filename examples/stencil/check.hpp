#pragma once
/// Is the result right? Pure comparisons on the whole field.

#include <cstddef>
#include <string>
#include <vector>

#include "stencil/field.hpp"

namespace stencil {

struct Verdict {
  bool passed = false;
  std::string text;  ///< one line: what was compared and what came out
};

/// Bit by bit: 0.0 and -0.0 differ, equal NaNs do not.
[[nodiscard]] Verdict compare_with_serial(const Field& result, const Field& serial,
                                          std::size_t steps);

/// For the eigenmode: equal to the exact solution of the scheme but for rounding.
[[nodiscard]] Verdict compare_with_discrete(const Field& result, std::size_t steps);

/// For the eigenmode: equal to the solution of the heat equation but for the discretisation error.
[[nodiscard]] Verdict compare_with_analytic(const Field& result, std::size_t steps);

/// Upper bound of the discretisation error after `steps` steps; check.cpp derives it.
[[nodiscard]] double discretisation_bound(const Extent& extent, std::size_t steps);

/// Upper bound of the rounding error after `steps` steps; check.cpp derives it.
[[nodiscard]] double rounding_bound(std::size_t steps);

/// All comparisons that apply.
[[nodiscard]] std::vector<Verdict> check_result(const Field& result, const InitialField& initial,
                                                bool initial_is_eigenmode, std::size_t steps);

}  // namespace stencil
