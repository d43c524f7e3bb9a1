#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

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

/// The elements between the starts of runs of `block`, if a layout is nothing but such runs.
[[nodiscard]] inline std::optional<std::size_t> stride_of(const Layout& layout,
                                                          std::size_t block) noexcept {
  if (layout.is_contiguous()) return block;
  const bool one_row = layout.dimensions().size() == 1 && layout.block() == block;
  return one_row ? std::optional(layout.dimensions().front().stride) : std::nullopt;
}

/// Calls visit(Piece) for the largest common runs of two layouts of equal count, in order.
template <class Visit>
void for_each_piece(const Layout& origin, const Layout& target, Visit&& visit) {
  if (origin.is_contiguous() && target.is_contiguous()) {
    if (origin.count() != 0) visit(Piece{0, 0, origin.count()});
    return;
  }
  const std::size_t block = std::min(origin.block(), target.block());
  const auto from = stride_of(origin, block);
  const auto to = stride_of(target, block);
  if (from && to && block != 0) {
    const std::size_t runs = origin.count() / block;
    for (std::size_t run = 0; run < runs; ++run) visit(Piece{run * *from, run * *to, block});
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
