#include "stencil/field.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace stencil {
namespace {

Picture ramp(std::size_t width, std::size_t height) {
  Picture picture{width, height, std::vector<float>(width * height)};
  std::iota(picture.grey.begin(), picture.grey.end(), 0.0F);
  return picture;
}

TEST(Field, ViewSeparatesCellsFromBorder) {
  Field field({3, 2});
  const BlockView view = field.view();
  EXPECT_EQ(view.cells.size(), 20U);
  view.inner_row(1)[2] = 7;
  EXPECT_EQ(view.row(2)[3], 7);
  EXPECT_EQ(field.row(1)[2], 7);
  EXPECT_EQ(field.row(1).size(), 3U);
}

TEST(Field, EigenmodeIsASymmetricHillOfHeightOne) {
  const InitialField mode = eigenmode({5, 3});
  EXPECT_DOUBLE_EQ(mode(2, 1), 1);
  EXPECT_NEAR(mode(0, 1), 0.5, 1e-15);  // sin(pi/6)
  EXPECT_NEAR(mode(0, 0), mode(4, 2), 1e-15);
  EXPECT_NEAR(mode(5, 1), 0, 1e-15) << "the boundary is cold";
}

TEST(Field, PictureOfTheSameSizeIsTakenAsItIs) {
  const InitialField field = from_picture(ramp(7, 5), {7, 5});
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t x = 0; x < 7; ++x) EXPECT_EQ(field(x, y), static_cast<double>(7 * y + x));
  }
}

TEST(Field, ShrinkingTakesMeans) {
  const InitialField field = from_picture(ramp(4, 2), {2, 1});
  EXPECT_DOUBLE_EQ(field(0, 0), (0 + 1 + 4 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(field(1, 0), (2 + 3 + 6 + 7) / 4.0);
}

TEST(Field, FractionsOfPixelsCountAsFractions) {
  const InitialField field = from_picture(ramp(3, 1), {2, 1});
  EXPECT_DOUBLE_EQ(field(0, 0), (0 + 0.5 * 1) / 1.5);
  EXPECT_DOUBLE_EQ(field(1, 0), (0.5 * 1 + 2) / 1.5);
}

TEST(Field, StretchingKeepsTheMeanForAnySize) {
  for (const Extent extent : {Extent{1, 1}, Extent{5, 3}, Extent{13, 7}, Extent{40, 33}}) {
    const InitialField field = from_picture(ramp(13, 7), extent);
    double sum = 0;
    for (std::size_t y = 0; y < extent.ny; ++y) {
      for (std::size_t x = 0; x < extent.nx; ++x) sum += field(x, y);
    }
    EXPECT_NEAR(sum / static_cast<double>(extent.nx * extent.ny), 45, 1e-11);
  }
}

TEST(Field, BlocksStartFromTheBitsOfTheWhole) {
  const Extent extent{11, 9};
  for (const InitialField& initial : {eigenmode(extent), from_picture(ramp(30, 4), extent)}) {
    Field whole(extent);
    fill(whole.view(), block_of({1, 1}, extent, 0), initial);
    const Block block = block_of({3, 2}, extent, 4);
    Field part({block.x.size, block.y.size});
    fill(part.view(), block, initial);
    for (std::size_t y = 0; y < block.y.size; ++y) {
      for (std::size_t x = 0; x < block.x.size; ++x) {
        EXPECT_EQ(part.row(y)[x], whole.row(block.y.begin + y)[block.x.begin + x]);
      }
    }
  }
}

}  // namespace
}  // namespace stencil
