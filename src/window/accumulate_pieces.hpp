#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "window/accumulate.hpp"
#include "window/own_completion.hpp"
#include "window/pieces.hpp"

namespace oriel::window {

/// A run of elements that lie side by side at the target, among the operands and among the results.
struct ElementPiece {
  const std::byte* operands = nullptr;  ///< null: there are none
  std::byte* results = nullptr;         ///< null: not wanted
  std::size_t offset = 0;               ///< in the target's part, in bytes
  std::size_t elements = 0;

  [[nodiscard]] ElementPiece first(std::size_t count) const noexcept {
    ElementPiece head = *this;
    head.elements = count;
    return head;
  }
  [[nodiscard]] ElementPiece without(std::size_t count, std::size_t element_bytes) const noexcept {
    const std::size_t bytes = count * element_bytes;
    return {operands != nullptr ? operands + bytes : nullptr,
            results != nullptr ? results + bytes : nullptr, offset + bytes, elements - count};
  }
};

/// Calls visit(ElementPiece) for the largest runs that the layouts of a request have in common, in
/// order.
template <class Visit>
void for_each_piece(const AccumulateRequest& request, Visit&& visit) {
  const auto piece = [&](std::size_t operand, std::size_t result, std::size_t target,
                         std::size_t elements) {
    const std::size_t bytes = request.type.bytes;
    const bool sends = request.operands != nullptr;
    const bool fetches = request.results != nullptr;
    visit(ElementPiece{sends ? request.operands + operand * bytes : nullptr,
                       fetches ? request.results + result * bytes : nullptr,
                       request.offset_bytes + target * bytes, elements});
  };
  if (request.count == 0) return;
  const Layout* const operand_layout =
      request.operands != nullptr ? request.operand_layout : nullptr;
  const Layout* const result_layout = request.results != nullptr ? request.result_layout : nullptr;
  if (operand_layout == nullptr && result_layout == nullptr && request.target_layout == nullptr) {
    return piece(0, 0, 0, request.count);
  }
  const Layout side_by_side = Layout::contiguous(request.count);
  const auto cursor = [&](const Layout* layout) {
    return LayoutCursor(layout != nullptr ? *layout : side_by_side);
  };
  LayoutCursor operands = cursor(operand_layout);
  LayoutCursor results = cursor(result_layout);
  LayoutCursor targets = cursor(request.target_layout);
  while (!targets.at_end()) {
    const std::size_t elements = std::min({operands.run(), results.run(), targets.run()});
    piece(operands.offset(), results.offset(), targets.offset(), elements);
    operands.advance(elements);
    results.advance(elements);
    targets.advance(elements);
  }
}

}  // namespace oriel::window
