#pragma once
/// The cells of all ranks, in one window, and their edges on the way to the neighbours.

#include <cstddef>
#include <span>
#include <vector>

#include <oriel/oriel.hpp>

#include "stencil/field.hpp"
#include "stencil/rank_grid.hpp"

namespace stencil {

/// A rectangle of cells, in memory with rows of more cells than its own.
struct Area {
  std::size_t first;  ///< its first cell
  oriel::Layout layout;
};

/// @param stride  cells from one row to the next
[[nodiscard]] Area area(std::size_t stride, const Range& x, const Range& y);

/// The line of cells along a side of a block: its ghost cells at depth 0, its edge at depth 1.
[[nodiscard]] Area line(const Block& block, Side side, std::size_t depth);

/// Each rank's part of the window is its block of cells twice, ghost cells included. Step s reads
/// block s % 2 and writes the inner cells of the other one, so s+1 reads what s wrote. Edges of
/// step s go straight from block s % 2 into the ghost cells of the neighbour's block s % 2: nothing
/// is packed, nothing unpacked. Ghost cells at the boundary of the domain stay zero.
///
/// Collective to create and destroy.
class Blocks {
 public:
  struct Neighbour {
    Side side;  ///< where it lies, seen from here
    oriel::Rank rank;
    Area edge;                ///< the cells here that it needs
    Area ghosts;              ///< where it wants them
    std::size_t block_cells;  ///< its block may differ in size
  };

  Blocks(const oriel::Team& team, const RankGrid& grid, const Extent& extent);

  /// The block that step `step` reads, and step - 1 has written.
  [[nodiscard]] BlockView block(std::size_t step) const;
  [[nodiscard]] std::span<const Neighbour> neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] oriel::Window<double>& window() noexcept { return window_; }

  /// Starts a put of this rank's edge of step `step` into the neighbour's ghost cells.
  void put_edge(const Neighbour& to, std::size_t step);

  /// Starts a get of the block of any rank that step `step` would read next, into its place in
  /// `whole`.
  void get_block(int rank, std::size_t step, Field& whole);

 private:
  RankGrid grid_;
  Extent extent_;
  Block mine_;
  std::vector<Neighbour> neighbours_;
  oriel::Window<double> window_;
};

}  // namespace stencil
