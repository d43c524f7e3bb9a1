#include "stencil/field.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace stencil {
namespace {

/// The stretch of source pixels that target cell `index` covers.
struct Stretch {
  double begin;
  double end;

  Stretch(std::size_t index, std::size_t cells, std::size_t pixels)
      : begin(static_cast<double>(index * pixels) / static_cast<double>(cells)),
        end(static_cast<double>((index + 1) * pixels) / static_cast<double>(cells)) {}

  [[nodiscard]] std::size_t first() const { return static_cast<std::size_t>(begin); }
  [[nodiscard]] std::size_t last() const { return static_cast<std::size_t>(std::ceil(end)); }
  [[nodiscard]] double overlap(std::size_t pixel) const {
    const auto left = static_cast<double>(pixel);
    return std::min(end, left + 1) - std::max(begin, left);
  }
};

double mean(const Picture& picture, const Stretch& across, const Stretch& down) {
  double sum = 0;
  double area = 0;
  for (std::size_t y = down.first(); y < std::min(down.last(), picture.height); ++y) {
    for (std::size_t x = across.first(); x < std::min(across.last(), picture.width); ++x) {
      const double weight = across.overlap(x) * down.overlap(y);
      sum += weight * static_cast<double>(picture.at(x, y));
      area += weight;
    }
  }
  return sum / area;
}

}  // namespace

InitialField eigenmode(const Extent& extent) {
  const double hx = 1.0 / static_cast<double>(extent.nx + 1);
  const double hy = 1.0 / static_cast<double>(extent.ny + 1);
  return [hx, hy](std::size_t x, std::size_t y) {
    return std::sin(std::numbers::pi * static_cast<double>(x + 1) * hx) *
           std::sin(std::numbers::pi * static_cast<double>(y + 1) * hy);
  };
}

InitialField from_picture(Picture picture, const Extent& extent) {
  // Shared: a std::function is copied freely, the pixels should not be.
  const auto pixels = std::make_shared<const Picture>(std::move(picture));
  return [pixels, extent](std::size_t x, std::size_t y) {
    return mean(*pixels, Stretch(x, extent.nx, pixels->width),
                Stretch(y, extent.ny, pixels->height));
  };
}

void fill(const BlockView& view, const Block& block, const InitialField& initial) {
  for (std::size_t y = 0; y < view.height; ++y) {
    const auto row = view.inner_row(y);
    for (std::size_t x = 0; x < view.width; ++x) {
      row[x] = initial(block.x.begin + x, block.y.begin + y);
    }
  }
}

}  // namespace stencil
