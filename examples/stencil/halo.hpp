#pragma once
/// The exchange of block edges between ranks, one-sided.

#include <array>
#include <cstddef>
#include <vector>

#include <oriel/oriel.hpp>

#include "stencil/field.hpp"
#include "stencil/rank_grid.hpp"

namespace stencil {

/// Where in a rank's window its neighbours' edges land, in cells: for each parity of the step, the
/// columns from west and east, then the rows from north and south.
struct LandingAreas {
  std::size_t width;
  std::size_t height;

  [[nodiscard]] constexpr std::size_t cells(Side side) const noexcept {
    return side == Side::west || side == Side::east ? height : width;
  }
  [[nodiscard]] constexpr std::size_t one_parity() const noexcept { return 2 * (width + height); }
  [[nodiscard]] constexpr std::size_t offset(Side side, std::size_t parity) const noexcept {
    const std::array<std::size_t, 4> start{0, height, 2 * height, 2 * height + width};
    return parity * one_parity() + start[static_cast<std::size_t>(side)];
  }
};

/// Collective to create, use and destroy. One fence per step is enough because of this invariant:
///
///   Edges for step s land in the areas of parity s % 2, and are read between fence s and fence
///   s+1. Meanwhile a quicker neighbour can put for step s+1 only: into the other areas. It puts
///   for s+2, into these areas again, after fence s+1, which this rank enters after reading.
class Halo {
 public:
  Halo(const oriel::Runtime& job, const RankGrid& grid, const Extent& extent);

  /// Puts the edges of `block` into the neighbours' windows, waits for theirs, and copies them to
  /// the ghost cells. Ghost cells at the boundary of the domain are left as they are.
  void exchange(const BlockView& block, std::size_t step);

 private:
  struct Neighbour {
    Side side;  ///< where it lies, seen from here
    oriel::Rank rank;
    LandingAreas areas;  ///< of its window: its block may differ in size
  };

  void put_edge(const BlockView& block, const Neighbour& to, std::size_t parity);
  void take_edge(const BlockView& block, Side side, std::size_t parity) const;

  LandingAreas areas_;
  std::vector<Neighbour> neighbours_;
  oriel::Buffer<double> packed_columns_;  ///< west, then east; in use until the fence
  oriel::Window<double> window_;
};

}  // namespace stencil
