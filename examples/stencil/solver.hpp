#pragma once
/// The heat equation u_t = u_xx + u_yy on the unit square, zero at the boundary: explicit Euler in
/// time, five points in space.

#include <cstddef>

#include "stencil/field.hpp"

namespace stencil {

/// One step computes  centre*u + across*(west + east) + down*(north + south).
struct Scheme {
  double hx;      ///< distance of cells
  double hy;      ///< the same from row to row
  double dt;      ///< time of one step
  double across;  ///< dt / hx^2
  double down;    ///< dt / hy^2
  double centre;  ///< 1 - 2*across - 2*down
};

/// The time step is the largest at which no mode changes its sign: across + down = 1/4. All weights
/// are then positive and sum to 1, so no step makes a maximum larger.
[[nodiscard]] Scheme make_scheme(const Extent& extent) noexcept;

/// One Jacobi step from `from`, ghost cells included, to the cells of `to`.
///
/// Every run calls this one function, compiled without contraction to fused multiply-adds: the bits
/// of a cell must not depend on where its block begins.
void jacobi_step(const Scheme& scheme, const BlockView& from, const BlockView& to) noexcept;

/// The same simulation without Oriel, in one block.
[[nodiscard]] Field solve_serially(const Extent& extent, const InitialField& initial,
                                   std::size_t steps);

/// Factor by which one step shrinks the eigenmode: exact for the scheme, rounding apart.
[[nodiscard]] double discrete_decay(const Scheme& scheme) noexcept;

}  // namespace stencil
