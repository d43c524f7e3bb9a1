#include "conformance/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kMostPieces = 320;  // more than the 256 that a queue holds

/// The smallest divisor of `count` that leaves at most kMostPieces pieces.
std::size_t block_of(std::size_t count) {
  std::size_t block = (count + kMostPieces - 1) / kMostPieces;
  while (count % block != 0) ++block;
  return block;
}

/// Splits `pieces` into `dimensions` factors.
std::vector<std::size_t> factors(std::size_t pieces, std::size_t dimensions) {
  std::vector<std::size_t> result;
  for (std::size_t left = dimensions; left > 1; --left) {
    std::size_t factor = 1;
    for (std::size_t candidate = 2; candidate * candidate <= pieces && candidate <= 7;
         ++candidate) {
      if (pieces % candidate == 0) {
        factor = candidate;
        break;
      }
    }
    result.push_back(factor);
    pieces /= factor;
  }
  result.push_back(pieces);
  return result;
}

Shape strided(ShapeKind kind, std::size_t count, std::uint64_t seed) {
  Shape shape{.kind = kind, .block = block_of(count)};
  const auto dimensions = static_cast<std::size_t>(kind);
  const std::vector<std::size_t> counts = factors(count / shape.block, dimensions);
  shape.dimensions.resize(dimensions);
  std::size_t extent = shape.block;
  for (std::size_t d = dimensions; d-- > 0;) {
    const std::size_t gap = 1 + mix(seed, d) % 3 % (extent < 512 ? 3 : 1);
    shape.dimensions[d] = {counts[d], extent + gap};
    extent += (counts[d] - 1) * (extent + gap);
  }
  // Sometimes the slowest dimension lies innermost: pieces interleave.
  if (dimensions == 2 && mix(seed, 99) % 2 == 0) {
    std::swap(shape.dimensions[0], shape.dimensions[1]);
  }
  return shape;
}

Shape indexed(std::size_t count, std::uint64_t seed) {
  Shape shape{.kind = ShapeKind::indexed, .block = block_of(count)};
  std::size_t at = mix(seed, 0) % 2;
  for (std::size_t i = 0; i < count / shape.block; ++i) {
    shape.offsets.push_back(at);
    at += shape.block + mix(seed, i + 1) % 3;  // neighbours and gaps
  }
  for (std::size_t i = shape.offsets.size(); i > 1; --i) {  // any order
    std::swap(shape.offsets[i - 1], shape.offsets[mix(seed, 1000 + i) % i]);
  }
  return shape;
}

}  // namespace

std::string_view to_string(ShapeKind kind) noexcept {
  constexpr std::array<std::string_view, kShapeKinds> kNames = {
      "contiguous", "strided1", "strided2", "strided3", "strided4", "strided5", "indexed"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::size_t Shape::count() const {
  if (kind == ShapeKind::indexed) return block * offsets.size();
  return std::accumulate(dimensions.begin(), dimensions.end(), block,
                         [](std::size_t n, const Dimension& d) { return n * d.count; });
}

std::vector<std::size_t> Shape::places() const {
  std::vector<std::size_t> starts =
      kind == ShapeKind::indexed ? offsets : std::vector<std::size_t>{0};
  for (const Dimension& dimension : dimensions) {  // the first runs slowest
    std::vector<std::size_t> finer;
    finer.reserve(starts.size() * dimension.count);
    for (const std::size_t start : starts) {
      for (std::size_t i = 0; i < dimension.count; ++i) {
        finer.push_back(start + i * dimension.stride);
      }
    }
    starts = std::move(finer);
  }
  std::vector<std::size_t> result;
  result.reserve(starts.size() * block);
  for (const std::size_t start : starts) {
    for (std::size_t i = 0; i < block; ++i) result.push_back(start + i);
  }
  return result;
}

std::size_t Shape::extent() const {
  if (count() == 0) return 0;
  if (kind == ShapeKind::indexed) return *std::ranges::max_element(offsets) + block;
  return std::accumulate(
      dimensions.begin(), dimensions.end(), block,
      [](std::size_t n, const Dimension& d) { return n + (d.count - 1) * d.stride; });
}

std::string Shape::to_text() const {
  if (kind == ShapeKind::contiguous) return fmt::format("{}", block);
  if (kind == ShapeKind::indexed) {
    return fmt::format("indexed({}, {{{}{}}})", block,
                       fmt::join(offsets.begin(),
                                 offsets.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::size_t>(offsets.size(), 8)),
                                 ", "),
                       offsets.size() > 8 ? fmt::format(", … {} in all", offsets.size()) : "");
  }
  std::string text = fmt::format("strided({}, {{", block);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    text +=
        fmt::format("{}{{{}, {}}}", d == 0 ? "" : ", ", dimensions[d].count, dimensions[d].stride);
  }
  return text + "})";
}

Shape contiguous(std::size_t count) {
  return {.kind = ShapeKind::contiguous, .block = count};
}

Shape make_shape(ShapeKind kind, std::size_t count, std::uint64_t seed) {
  if (kind == ShapeKind::contiguous || count == 0) return contiguous(count);
  return kind == ShapeKind::indexed ? indexed(count, seed) : strided(kind, count, seed);
}

}  // namespace oriel::conformance
