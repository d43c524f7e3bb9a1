#include "stencil/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stencil {
namespace {

// Equal steps in CIE lightness, from 6 to 92; straight lines between the entries.
constexpr std::array<Colour, 9> kTable{{{21, 10, 56},
                                        {47, 26, 98},
                                        {51, 56, 134},
                                        {36, 93, 147},
                                        {23, 127, 148},
                                        {31, 162, 135},
                                        {90, 193, 107},
                                        {171, 217, 75},
                                        {249, 235, 94}}};

std::uint8_t blend(std::uint8_t from, std::uint8_t to, double share) noexcept {
  return static_cast<std::uint8_t>(std::lround(from + share * (to - from)));
}

}  // namespace

Colour colour_of(double value) noexcept {
  if (!(value > 0)) return kTable.front();  // NaN too
  if (value >= 1) return kTable.back();
  const double position = value * static_cast<double>(kTable.size() - 1);
  const auto entry = static_cast<std::size_t>(position);
  const double share = position - static_cast<double>(entry);
  const Colour& low = kTable[entry];
  const Colour& high = kTable[entry + 1];
  return {blend(low.red, high.red, share), blend(low.green, high.green, share),
          blend(low.blue, high.blue, share)};
}

std::vector<Colour> paint(const Field& field) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t y = 0; y < field.extent().ny; ++y) {
    const auto [smallest, largest] = std::ranges::minmax(field.row(y));
    low = std::min(low, smallest);
    high = std::max(high, largest);
  }
  std::vector<Colour> pixels;
  pixels.reserve(field.extent().nx * field.extent().ny);
  for (std::size_t y = 0; y < field.extent().ny; ++y) {
    for (const double value : field.row(y)) {
      pixels.push_back(colour_of(high > low ? (value - low) / (high - low) : 0));
    }
  }
  return pixels;
}

}  // namespace stencil
