#include "stencil/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "stencil/solver.hpp"

namespace stencil {
namespace {

/// Largest distance of any cell from `amplitude` times the eigenmode; NaN if any cell is NaN.
double distance_from_mode(const Field& result, double amplitude) {
  const Extent& extent = result.extent();
  const InitialField mode = eigenmode(extent);
  double largest = 0;
  for (std::size_t y = 0; y < extent.ny; ++y) {
    const auto row = result.row(y);
    for (std::size_t x = 0; x < extent.nx; ++x) {
      const double distance = std::abs(row[x] - amplitude * mode(x, y));
      if (!(distance <= largest)) largest = distance;
      if (std::isnan(largest)) return largest;
    }
  }
  return largest;
}

Verdict within(const char* what, double error, double bound) {
  const bool passed = error <= bound;  // false for NaN
  return {passed, fmt::format("check: {}: max error {:.2e}, {} the bound {:.2e}", what, error,
                              passed ? "within" : "EXCEEDS", bound)};
}

}  // namespace

Verdict compare_with_serial(const Field& result, const Field& serial, std::size_t steps) {
  const Extent& extent = result.extent();
  std::size_t differing = 0;
  std::string first;
  for (std::size_t y = 0; y < extent.ny; ++y) {
    for (std::size_t x = 0; x < extent.nx; ++x) {
      const double ours = result.row(y)[x];
      const double theirs = serial.row(y)[x];
      if (std::bit_cast<std::uint64_t>(ours) == std::bit_cast<std::uint64_t>(theirs)) continue;
      if (differing++ == 0) first = fmt::format("({}, {}): {} instead of {}", x, y, ours, theirs);
    }
  }
  if (differing == 0) {
    return {true, fmt::format("check: bit-identical to the serial run ({} x {}, {} steps)",
                              extent.nx, extent.ny, steps)};
  }
  return {false,
          fmt::format("check: DIFFERS from the serial run in {} of {} cells after {} steps, first "
                      "in {}",
                      differing, extent.nx * extent.ny, steps, first)};
}

double rounding_bound(std::size_t steps) {
  // Values and weights are at most 1, and the scheme never makes an error larger, so errors at most
  // add up. With unit roundoff e/2, a step adds at most 4 e: 3 roundings on the longest path of the
  // expression, 3 in a weight, 1 in the stored value. The decay factor is good to 3 e, and so is
  // each of its `steps` uses. One more step pays for the sines and the power.
  return 8 * std::numeric_limits<double>::epsilon() * static_cast<double>(steps + 1);
}

double discretisation_bound(const Extent& extent, std::size_t steps) {
  // Both solutions are the eigenmode times a power: of `ours` per step for the scheme, of `exact` =
  // exp(-2 pi^2 dt) for the equation. Taylor, with its remainder, gives
  //   |exp(-2 pi^2 dt) - 1 + 2 pi^2 dt| <= 2 pi^4 dt^2           and, for hx and hy,
  //   |2 (cos(pi h) - 1) / h^2 + pi^2|  <= pi^4 h^2 / 12,
  // so |ours - exact| <= `apart` below. And a^n - b^n = (a - b) (a^(n-1) + ... + b^(n-1)).
  if (steps == 0) return 0;
  const Scheme scheme = make_scheme(extent);
  const double pi2 = std::numbers::pi * std::numbers::pi;
  const double apart = scheme.dt * pi2 * pi2 *
                       (2 * scheme.dt + (scheme.hx * scheme.hx + scheme.hy * scheme.hy) / 12);
  const double slower = std::max(discrete_decay(scheme), std::exp(-2 * pi2 * scheme.dt));
  const auto n = static_cast<double>(steps);
  return n * apart * std::pow(slower, n - 1);
}

Verdict compare_with_discrete(const Field& result, std::size_t steps) {
  const double decay = discrete_decay(make_scheme(result.extent()));
  const double amplitude = std::pow(decay, static_cast<double>(steps));
  return within("exact solution of the scheme", distance_from_mode(result, amplitude),
                rounding_bound(steps));
}

Verdict compare_with_analytic(const Field& result, std::size_t steps) {
  const Scheme scheme = make_scheme(result.extent());
  const double time = scheme.dt * static_cast<double>(steps);
  const double amplitude = std::exp(-2 * std::numbers::pi * std::numbers::pi * time);
  return within("analytic solution", distance_from_mode(result, amplitude),
                discretisation_bound(result.extent(), steps) + rounding_bound(steps));
}

std::vector<Verdict> check_result(const Field& result, const InitialField& initial,
                                  bool initial_is_eigenmode, std::size_t steps) {
  std::vector<Verdict> verdicts;
  verdicts.push_back(
      compare_with_serial(result, solve_serially(result.extent(), initial, steps), steps));
  if (initial_is_eigenmode) {
    verdicts.push_back(compare_with_discrete(result, steps));
    verdicts.push_back(compare_with_analytic(result, steps));
  }
  return verdicts;
}

}  // namespace stencil
