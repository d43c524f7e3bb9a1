#pragma once
/// Cells in memory, and what they hold at the start.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "stencil/picture.hpp"
#include "stencil/rank_grid.hpp"

namespace stencil {

/// width × height cells inside a border of ghost cells one cell wide; rows from top to bottom. A
/// view: the memory belongs to somebody else.
struct BlockView {
  std::span<double> cells;  ///< cells_with_border(width, height) of them
  std::size_t width = 0;
  std::size_t height = 0;

  /// Row y counted with the border: 0 is the upper ghost row, 1 … height are cells.
  [[nodiscard]] double* row(std::size_t y) const noexcept { return cells.data() + y * (width + 2); }
  /// The cells of row y, counted without the border: 0 … height-1.
  [[nodiscard]] std::span<double> inner_row(std::size_t y) const noexcept {
    return {row(y + 1) + 1, width};
  }
};

[[nodiscard]] constexpr std::size_t cells_with_border(std::size_t width,
                                                      std::size_t height) noexcept {
  return (width + 2) * (height + 2);
}

/// A whole field with memory of its own, zero at first, boundary included.
class Field {
 public:
  explicit Field(const Extent& extent)
      : extent_(extent), cells_(cells_with_border(extent.nx, extent.ny)) {}
  [[nodiscard]] const Extent& extent() const noexcept { return extent_; }
  [[nodiscard]] BlockView view() noexcept { return {cells_, extent_.nx, extent_.ny}; }
  [[nodiscard]] std::span<const double> row(std::size_t y) const noexcept {
    return std::span{cells_}.subspan((y + 1) * (extent_.nx + 2) + 1, extent_.nx);
  }

 private:
  Extent extent_;
  std::vector<double> cells_;
};

/// Value of cell (x, y) of the whole field at time 0. Depends on nothing else, so that any division
/// among ranks starts from the same bits.
using InitialField = std::function<double(std::size_t x, std::size_t y)>;

/// sin(pi x) sin(pi y) on the unit square: the slowest eigenmode of the heat equation, which keeps
/// its shape while it decays. Cell (i, j) lies at ((i+1)/(nx+1), (j+1)/(ny+1)).
[[nodiscard]] InitialField eigenmode(const Extent& extent);

/// `picture` stretched over the cells: each takes the mean of the area it covers, so that heat is
/// neither lost nor made; at equal sizes cell and pixel are equal.
[[nodiscard]] InitialField from_picture(Picture picture, const Extent& extent);

/// Fills the part `block` of the whole field.
void fill(const BlockView& view, const Block& block, const InitialField& initial);

}  // namespace stencil
