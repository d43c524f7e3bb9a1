#include "stencil/solver.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace stencil {

Scheme make_scheme(const Extent& extent) noexcept {
  const auto intervals_x = static_cast<double>(extent.nx + 1);
  const auto intervals_y = static_cast<double>(extent.ny + 1);
  Scheme scheme{};
  scheme.hx = 1 / intervals_x;
  scheme.hy = 1 / intervals_y;
  scheme.dt = 0.25 / (intervals_x * intervals_x + intervals_y * intervals_y);
  scheme.across = scheme.dt * intervals_x * intervals_x;
  scheme.down = scheme.dt * intervals_y * intervals_y;
  scheme.centre = 1 - 2 * scheme.across - 2 * scheme.down;
  return scheme;
}

void jacobi_step(const Scheme& scheme, const BlockView& from, const BlockView& to) noexcept {
  const double centre = scheme.centre;
  const double across = scheme.across;
  const double down = scheme.down;
  for (std::size_t y = 1; y <= from.height; ++y) {
    const double* const north = from.row(y - 1);
    const double* const here = from.row(y);
    const double* const south = from.row(y + 1);
    double* const result = to.row(y);
    for (std::size_t x = 1; x <= from.width; ++x) {
      result[x] =
          centre * here[x] + across * (here[x - 1] + here[x + 1]) + down * (north[x] + south[x]);
    }
  }
}

Field solve_serially(const Extent& extent, const InitialField& initial, std::size_t steps) {
  const Scheme scheme = make_scheme(extent);
  Field current(extent);
  Field next(extent);
  fill(current.view(), block_of(RankGrid{}, extent, 0), initial);
  for (std::size_t step = 0; step < steps; ++step) {
    jacobi_step(scheme, current.view(), next.view());
    std::swap(current, next);
  }
  return current;
}

double discrete_decay(const Scheme& scheme) noexcept {
  const double sine_x = std::sin(std::numbers::pi * scheme.hx / 2);
  const double sine_y = std::sin(std::numbers::pi * scheme.hy / 2);
  return 1 - 4 * scheme.across * sine_x * sine_x - 4 * scheme.down * sine_y * sine_y;
}

}  // namespace stencil
