#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <oriel/layout.hpp>

namespace oriel::window {

/// Walks the contiguous runs of a layout, in elements.
class LayoutCursor {
 public:
  explicit LayoutCursor(const Layout& layout) noexcept;

  [[nodiscard]] bool at_end() const noexcept { return left_ == 0; }
  /// Where the next element lies, and how many follow it side by side (as far as one block goes).
  [[nodiscard]] std::size_t offset() const noexcept { return offset_ + within_; }
  [[nodiscard]] std::size_t run() const noexcept { return layout_->block() - within_; }
  /// Requires 0 < elements <= run().
  void advance(std::size_t elements) noexcept;

 private:
  void next_block() noexcept;

  const Layout* layout_;
  std::size_t left_;        // elements not yet passed
  std::size_t within_ = 0;  // of the block
  std::size_t offset_ = 0;  // of the block
  std::size_t listed_ = 0;  // of offsets()
  std::array<std::size_t, Layout::kMaxDimensions> index_{};
};

/// A run that is contiguous on all sides, in elements.
struct Piece {
  std::size_t origin = 0;
  std::size_t target = 0;
  std::size_t elements = 0;
};

/// Calls visit(Piece) for the largest common runs of two layouts of equal count, in order.
template <class Visit>
void for_each_piece(const Layout& origin, const Layout& target, Visit&& visit) {
  if (origin.is_contiguous() && target.is_contiguous()) {
    if (origin.count() != 0) visit(Piece{0, 0, origin.count()});
    return;
  }
  LayoutCursor here(origin);
  LayoutCursor there(target);
  while (!here.at_end()) {
    const std::size_t elements = std::min(here.run(), there.run());
    visit(Piece{here.offset(), there.offset(), elements});
    here.advance(elements);
    there.advance(elements);
  }
}

}  // namespace oriel::window
