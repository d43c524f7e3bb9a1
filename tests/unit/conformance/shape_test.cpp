// Shapes name the places that the documentation of Layout says, each once.

#include "conformance/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace oriel::conformance {
namespace {

TEST(Shapes, TheFirstDimensionRunsSlowest) {
  const Shape shape{.kind = ShapeKind::strided2, .block = 2, .dimensions = {{2, 100}, {3, 10}}};
  EXPECT_EQ(shape.places(),
            (std::vector<std::size_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
  EXPECT_EQ(shape.count(), 12U);
  EXPECT_EQ(shape.extent(), 122U);
}

TEST(Shapes, OffsetsKeepTheirOrder) {
  const Shape shape{.kind = ShapeKind::indexed, .block = 2, .offsets = {7, 0, 3}};
  EXPECT_EQ(shape.places(), (std::vector<std::size_t>{7, 8, 0, 1, 3, 4}));
  EXPECT_EQ(shape.extent(), 9U);
}

TEST(Shapes, AllKindsHaveTheCountAndNameNothingTwice) {
  for (const std::size_t count : {1U, 2U, 7U, 64U, 257U, 1000U, 8192U, 65537U}) {
    for (std::size_t kind = 0; kind < kShapeKinds; ++kind) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Shape shape = make_shape(static_cast<ShapeKind>(kind), count, seed);
        const std::vector<std::size_t> places = shape.places();
        EXPECT_EQ(shape.count(), count);
        EXPECT_EQ(places.size(), count);
        EXPECT_EQ(std::set<std::size_t>(places.begin(), places.end()).size(), count);
        EXPECT_EQ(*std::ranges::max_element(places) + 1, shape.extent());
        EXPECT_EQ(shape.kind, static_cast<ShapeKind>(kind));
        EXPECT_LE(count / shape.block, 320U);
      }
    }
  }
}

TEST(Shapes, AreTheLibrarysLayouts) {
  for (std::size_t kind = 0; kind < kShapeKinds; ++kind) {
    const Shape shape = make_shape(static_cast<ShapeKind>(kind), 60, 3);
    const Layout layout = shape.layout();
    EXPECT_EQ(layout.count(), shape.count());
    EXPECT_EQ(layout.extent(), shape.extent());
  }
}

}  // namespace
}  // namespace oriel::conformance
