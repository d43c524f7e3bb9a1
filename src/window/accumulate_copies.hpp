#pragma once

#include <array>
#include <cstddef>

#include "window/accumulate_pieces.hpp"

namespace oriel::window {

/// A block of elements that were fetched to be combined and sent back.
struct CopyScratch {
  static constexpr std::size_t kBytes = 64 * 1024;
  static constexpr std::size_t kPieces = 512;

  std::array<std::byte, kBytes> elements;
  std::array<ElementPiece, kPieces> pieces;
};

}  // namespace oriel::window
