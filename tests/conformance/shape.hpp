#pragma once
/// Where the elements of a transfer lie: what an oriel::Layout says, as a value that can be kept,
/// printed and walked without the library.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/layout.hpp>

namespace oriel::conformance {

enum class ShapeKind : std::uint8_t {
  contiguous,
  strided1,
  strided2,
  strided3,
  strided4,
  strided5,
  indexed,
};
inline constexpr std::size_t kShapeKinds = 7;
[[nodiscard]] std::string_view to_string(ShapeKind kind) noexcept;

struct Shape {
  ShapeKind kind = ShapeKind::contiguous;
  std::size_t block = 0;
  std::vector<Dimension> dimensions{};
  std::vector<std::size_t> offsets{};

  [[nodiscard]] std::size_t count() const;
  /// The places of the elements, in their order.
  [[nodiscard]] std::vector<std::size_t> places() const;
  /// One past the largest place.
  [[nodiscard]] std::size_t extent() const;
  /// Valid as long as this shape.
  [[nodiscard]] Layout layout() const;
  [[nodiscard]] std::string to_text() const;
};

[[nodiscard]] Shape contiguous(std::size_t count);

/// A shape of `count` elements with gaps, no element twice, at most some hundred pieces. Kinds of
/// more dimensions than `count` has factors get dimensions of one.
[[nodiscard]] Shape make_shape(ShapeKind kind, std::size_t count, std::uint64_t seed);

}  // namespace oriel::conformance
