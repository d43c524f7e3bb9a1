#include "stencil/colour_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stencil {
namespace {

double linear(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// CIE L*, 0 (black) to 100 (white).
double lightness(const Colour& colour) {
  const double y =
      0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

TEST(ColourMap, EndsAreDarkVioletAndLightYellow) {
  EXPECT_EQ(colour_of(0), (Colour{21, 10, 56}));
  EXPECT_EQ(colour_of(1), (Colour{249, 235, 94}));
}

TEST(ColourMap, ValuesOutsideAreClamped) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(colour_of(-0.5), colour_of(0));
  EXPECT_EQ(colour_of(-infinity), colour_of(0));
  EXPECT_EQ(colour_of(1.5), colour_of(1));
  EXPECT_EQ(colour_of(infinity), colour_of(1));
  EXPECT_EQ(colour_of(std::numeric_limits<double>::quiet_NaN()), colour_of(0));
}

TEST(ColourMap, LightnessGrowsEvenly) {
  for (int percent = 5; percent <= 100; percent += 5) {
    const double step =
        lightness(colour_of(percent / 100.0)) - lightness(colour_of((percent - 5) / 100.0));
    EXPECT_NEAR(step, 86.0 / 20, 1.5) << percent << " %";
  }
}

TEST(ColourMap, PaintUsesTheWholeRangeRowByRow) {
  Field field({2, 2});
  field.view().inner_row(0)[0] = -3;
  field.view().inner_row(0)[1] = 5;
  field.view().inner_row(1)[0] = 1;
  field.view().inner_row(1)[1] = -3;
  const auto pixels = paint(field);
  ASSERT_EQ(pixels.size(), 4U);
  EXPECT_EQ(pixels[0], colour_of(0));
  EXPECT_EQ(pixels[1], colour_of(1));
  EXPECT_EQ(pixels[2], colour_of(0.5));
  EXPECT_EQ(pixels[3], colour_of(0));
}

TEST(ColourMap, AConstantFieldIsDark) {
  Field field({1, 1});
  field.view().inner_row(0)[0] = 42;
  EXPECT_EQ(paint(field)[0], colour_of(0));
}

}  // namespace
}  // namespace stencil
