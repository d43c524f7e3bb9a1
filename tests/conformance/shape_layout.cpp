// Shapes as the library's layouts: a file of its own, for programs without the library.

#include "conformance/shape.hpp"

namespace oriel::conformance {

Layout Shape::layout() const {
  if (kind == ShapeKind::contiguous) return Layout::contiguous(block);
  if (kind == ShapeKind::indexed) return Layout::indexed(block, offsets);
  return Layout::strided(block, dimensions);
}

}  // namespace oriel::conformance
