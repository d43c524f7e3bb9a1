#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stencil/picture.hpp"

namespace stencil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Picture decode(std::string_view text) {
  return decode_pgm({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

std::string refusal(std::string_view text) {
  try {
    (void)decode(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Pgm, ReadsText) {
  const Picture picture = decode("P2\n3 2\n4\n0 1 2\n3 4 0\n");
  EXPECT_EQ(picture.width, 3U);
  EXPECT_EQ(picture.height, 2U);
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 0.25F, 0.5F, 0.75F, 1.0F, 0.0F));
}

TEST(Pgm, ReadsTextWithCommentsAnywhere) {
  const Picture picture =
      decode("P2 # kind\n# a line\n2# right after a number\n 1 #\r 2\n0 # pixel\n2");
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F));
}

TEST(Pgm, ReadsBytes) {
  const Picture picture = decode(std::string_view("P5 2 2 255\n\x00\xff\x33\x66", 15));
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F, 0.2F, 0.4F));
}

TEST(Pgm, APixelThatLooksLikeABlankIsAPixel) {
  const Picture picture = decode("P5 2 1 10\n\n\n");
  EXPECT_THAT(picture.grey, ElementsAre(1.0F, 1.0F));
}

TEST(Pgm, ReadsSixteenBitsHighByteFirst) {
  const Picture picture = decode(std::string_view("P5\n3 1\n1000\n\x00\x00\x03\xe8\x01\xf4", 18));
  EXPECT_THAT(picture.grey, ElementsAre(0.0F, 1.0F, 0.5F));
}

TEST(Pgm, IgnoresWhatFollowsThePicture) {
  EXPECT_THAT(decode("P5 1 1 255\n\xffmore").grey, ElementsAre(1.0F));
}

TEST(Pgm, RefusesEveryTruncation) {
  for (const std::string whole : {"P2\n2 2\n9\n1 2 3 4", "P5\n2 2\n9\n\1\2\3\4"}) {
    ASSERT_EQ(refusal(whole), "accepted");
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length << " bytes of " << whole;
    }
  }
  const std::string wide("P5 1 2 256\n\1\0\0\1", 15);
  ASSERT_EQ(refusal(wide), "accepted");
  EXPECT_THAT(refusal(wide.substr(0, 14)), HasSubstr("3 bytes of pixels, at least 4"));
}

TEST(Pgm, RefusesAbsurdSizesBeforeTakingMemory) {
  EXPECT_THAT(refusal("P5 0 5 255\n"), HasSubstr("no pixels"));
  EXPECT_THAT(refusal("P5 5 0 255\n"), HasSubstr("no pixels"));
  EXPECT_THAT(refusal("P5 99999999 99999999 255\n"), HasSubstr("too large"));
  EXPECT_THAT(refusal("P5 18446744073709551617 1 255\n"), HasSubstr("absurdly large"));
  EXPECT_THAT(refusal("P5 -3 1 255\n"), HasSubstr("width is no number"));
  EXPECT_THAT(refusal("P5 8000 8000 255\nfew"), HasSubstr("cut off"));
  EXPECT_THAT(refusal("P2 8000 8000 255\nfew"), HasSubstr("cut off"));
}

TEST(Pgm, RefusesDamage) {
  EXPECT_THAT(refusal("P2 1 1 0\n0"), HasSubstr("maximum 0"));
  EXPECT_THAT(refusal("P2 1 1 65536\n0"), HasSubstr("maximum 65536"));
  EXPECT_THAT(refusal("P2 1 1 10\n11"), HasSubstr("sample 11 exceeds its maximum 10"));
  EXPECT_THAT(refusal("P5 1 1 10\n\x0b"), HasSubstr("sample 11 exceeds its maximum 10"));
  EXPECT_THAT(refusal("P2 2 1 10\n1 z"), HasSubstr("next pixel is no number"));
  EXPECT_THAT(refusal("P5 1 1 255x"), HasSubstr("no blank"));
}

TEST(Pgm, NamesTheFormatItDoesNotRead) {
  EXPECT_THAT(refusal("P6 1 1 255\nabc"), HasSubstr("P6 picture; of the PNM family only grey PGM"));
  EXPECT_THAT(refusal("P1 1 1\n0"), HasSubstr("P1 picture"));
}

}  // namespace
}  // namespace stencil
