#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "png_maker.hpp"
#include "stencil/picture.hpp"

namespace stencil {
namespace {

using test::make_png;
using test::PngSpec;
using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

std::string refusal(const std::vector<unsigned char>& file) {
  try {
    (void)decode_png(file);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Png, ReadsGrey) {
  const Picture picture = decode_png(make_png({3, 2}, {0, 255, 51, 102, 153, 204}));
  EXPECT_EQ(picture.width, 3U);
  EXPECT_EQ(picture.height, 2U);
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F, 0.2F, 0.4F, 0.6F, 0.8F));
}

TEST(Png, ReadsSixteenBitsWithoutLosingAny) {
  const Picture picture = decode_png(make_png({3, 1, 16}, {0, 0, 0, 1, 0xff, 0xff}));
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, static_cast<float>(1.0 / 65535), 1.0F));
}

TEST(Png, ReadsSingleBits) {
  const Picture picture = decode_png(make_png({4, 1, 1}, {0b01010000}));
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F, 0.0F, 1.0F));
}

TEST(Png, ReadsColoursAsGrey) {
  const Picture picture = decode_png(
      make_png({4, 1, 8, PNG_COLOR_TYPE_RGB}, {0, 0, 0, 255, 255, 255, 100, 100, 100, 0, 255, 0}));
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F, FloatNear(100.0F / 255, 0.005F),
                                        FloatNear(0.715F, 0.01F)));  // green is most of brightness
}

TEST(Png, BlendsTransparencyWithBlack) {
  const Picture grey =
      decode_png(make_png({2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA}, {255, 51, 204, 0}));
  EXPECT_THAT(grey.grey, ElementsAre(0.2F, 0.0F));
  const Picture colour =
      decode_png(make_png({1, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA}, {255, 255, 255, 102}));
  EXPECT_THAT(colour.grey, ElementsAre(0.4F));
}

TEST(Png, ReadsSixteenBitColourWithAlpha) {
  const Picture picture = decode_png(
      make_png({1, 1, 16, PNG_COLOR_TYPE_RGB_ALPHA}, {0x80, 0, 0x80, 0, 0x80, 0, 0xff, 0xff}));
  EXPECT_THAT(picture.grey, ElementsAre(FloatNear(32768.0F / 65535, 1e-4F)));
}

TEST(Png, ReadsPalettes) {
  PngSpec spec{4, 1, 2, PNG_COLOR_TYPE_PALETTE};
  spec.palette = {{0, 0, 0}, {255, 255, 255}, {51, 51, 51}};
  const std::vector<unsigned char> pixels{0b00011001};  // entries 0, 1, 2, 1
  EXPECT_THAT(decode_png(make_png(spec, pixels)).grey, ElementsAre(0.0F, 1.0F, 0.2F, 1.0F));
  spec.palette_alpha = {255, 102};
  EXPECT_THAT(decode_png(make_png(spec, pixels)).grey, ElementsAre(0.0F, 0.4F, 0.2F, 0.4F));
}

TEST(Png, ReadsInterlacedFiles) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < 13 * 11; ++i) pixels.push_back(static_cast<unsigned char>(i));
  PngSpec spec{13, 11};
  const auto plain = decode_png(make_png(spec, pixels));
  spec.interlace = PNG_INTERLACE_ADAM7;
  EXPECT_EQ(decode_png(make_png(spec, pixels)).grey, plain.grey);
}

TEST(Png, RefusesEveryTruncation) {
  const auto whole = make_png({5, 5}, std::vector<unsigned char>(25, 77));
  ASSERT_EQ(refusal(whole), "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}),
                HasSubstr("damaged PNG"))
        << length << " of " << whole.size() << " bytes";
  }
}

TEST(Png, RefusesFlippedBits) {
  const auto whole = make_png({5, 5}, std::vector<unsigned char>(25, 77));
  for (const std::size_t position : {std::size_t{17}, whole.size() / 2}) {
    auto damaged = whole;
    damaged[position] = static_cast<unsigned char>(damaged[position] ^ 0x10);
    EXPECT_THAT(refusal(damaged), HasSubstr("damaged PNG")) << "byte " << position;
  }
}

TEST(Png, RefusesTooManyPixels) {
  // A small file that unfolds to more than is read: 9000 rows of 9000 black bits.
  const auto bomb = make_png({9000, 9000, 1}, std::vector<unsigned char>(9000 * 1125, 0));
  EXPECT_LT(bomb.size(), 100'000U);
  EXPECT_THAT(refusal(bomb), HasSubstr("too large: 9000 x 9000"));
}

}  // namespace
}  // namespace stencil
