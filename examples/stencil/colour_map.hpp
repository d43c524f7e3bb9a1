#pragma once
/// Colours for values: brighter always means larger, also in print and to the colour-blind.

#include <span>
#include <vector>

#include "stencil/field.hpp"
#include "stencil/picture.hpp"

namespace stencil {

/// Colour of `value`: dark violet at 0 and below, through blue and green, to light yellow at 1 and
/// above.
[[nodiscard]] Colour colour_of(double value) noexcept;

/// The field from its smallest value (darkest) to its largest (brightest).
[[nodiscard]] std::vector<Colour> paint(const Field& field);

}  // namespace stencil
