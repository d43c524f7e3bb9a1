// Layouts: their making, with every product and sum checked, and the walk over their runs.

#include <oriel/layout.hpp>

#include <string>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "window/pieces.hpp"

namespace oriel {
namespace {

[[noreturn]] void throw_too_large(const char* operation) {
  base::throw_error(ErrorCode::out_of_range,
                    {.operation = operation,
                     .problem = "64 bits do not hold the number of elements or their extent",
                     .hint = "counts and strides are elements: was a negative number given?"});
}

std::size_t product(const char* operation, std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw_too_large(operation);
  return result;
}

std::size_t sum(const char* operation, std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw_too_large(operation);
  return result;
}

}  // namespace

Layout Layout::contiguous(std::size_t count) noexcept {
  Layout layout;
  layout.block_ = layout.count_ = layout.extent_ = count;
  return layout;
}

Layout Layout::strided(std::size_t block, std::span<const Dimension> dimensions) {
  constexpr const char* kOperation = "Layout::strided";
  if (dimensions.size() > kMaxDimensions) {
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = kOperation,
                       .problem = fmt::format("{} dimensions, at most {} are possible",
                                              dimensions.size(), kMaxDimensions),
                       .hint = "join dimensions whose stride is the next one's whole extent"});
  }
  Layout layout;
  layout.block_ = layout.count_ = layout.extent_ = block;
  for (const Dimension& dimension : dimensions) {
    layout.dimensions_[layout.rank_++] = dimension;
    layout.count_ = product(kOperation, layout.count_, dimension.count);
  }
  if (layout.count_ == 0) return contiguous(0);
  for (const Dimension& dimension : dimensions) {
    layout.extent_ =
        sum(kOperation, layout.extent_, product(kOperation, dimension.count - 1, dimension.stride));
  }
  return layout;
}

Layout Layout::indexed(std::size_t block, std::span<const std::size_t> offsets) {
  constexpr const char* kOperation = "Layout::indexed";
  if (block == 0 || offsets.empty()) return contiguous(0);
  Layout layout;
  layout.block_ = block;
  layout.offsets_ = offsets;
  layout.count_ = product(kOperation, block, offsets.size());
  layout.extent_ = sum(kOperation, std::ranges::max(offsets), block);
  return layout;
}

namespace window {

LayoutCursor::LayoutCursor(const Layout& layout) noexcept
    : layout_(&layout), left_(layout.count()) {
  if (!layout.offsets().empty()) offset_ = layout.offsets().front();
}

void LayoutCursor::advance(std::size_t elements) noexcept {
  left_ -= elements;
  within_ += elements;
  if (within_ == layout_->block() && left_ != 0) next_block();
}

void LayoutCursor::next_block() noexcept {
  within_ = 0;
  if (!layout_->offsets().empty()) {
    offset_ = layout_->offsets()[++listed_];
    return;
  }
  const auto dimensions = layout_->dimensions();
  for (std::size_t at = dimensions.size(); at-- > 0;) {
    offset_ += dimensions[at].stride;
    if (++index_[at] < dimensions[at].count) return;
    offset_ -= dimensions[at].stride * dimensions[at].count;
    index_[at] = 0;
  }
}

}  // namespace window
}  // namespace oriel
