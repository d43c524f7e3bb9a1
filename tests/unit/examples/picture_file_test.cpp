#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "png_maker.hpp"
#include "stencil/picture.hpp"
#include "temporary_folder.hpp"

namespace stencil {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::span<const unsigned char> bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PictureFile, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  std::vector<Colour> pixels;
  for (std::uint8_t i = 0; i < 12; ++i) {
    const auto value = static_cast<std::uint8_t>(20 * i);
    pixels.push_back({value, value, value});
  }
  write_png(folder.file("a.png"), 4, 3, pixels);
  const Picture picture = read_picture(folder.file("a.png"));
  ASSERT_EQ(picture.width, 4U);
  ASSERT_EQ(picture.height, 3U);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_NEAR(picture.grey[i], static_cast<float>(pixels[i].red) / 255, 0.005) << i;
  }
}

TEST(PictureFile, ContentDecidesNotTheName) {
  const TemporaryFolder folder;
  const auto pgm = folder.write("pgm.png", bytes_of("P2 1 1 2 1"));
  EXPECT_THAT(read_picture(pgm).grey, ElementsAre(0.5F));
  const auto png = folder.write("png.pgm", test::make_png({1, 1}, {51}));
  EXPECT_THAT(read_picture(png).grey, ElementsAre(0.2F));
}

TEST(PictureFile, RefusalsNameTheFileAndTheReason) {
  const TemporaryFolder folder;
  const auto read = [](const std::string& path) {
    return refusal([&] { (void)read_picture(path); });
  };
  const auto expect = [](const std::string& message, const std::string& path, const char* reason) {
    EXPECT_THAT(message,
                AllOf(HasSubstr("'" + path + "'"), HasSubstr(reason), Not(HasSubstr("\n"))));
  };
  const auto missing = folder.file("missing.png");
  expect(read(missing), missing, "No such file");
  expect(read(""), "", "cannot be opened");
  expect(read(folder.file("")), folder.file(""), "no regular file");
  expect(read("/dev/zero"), "/dev/zero", "no regular file");
  const auto empty = folder.write("empty", {});
  expect(read(empty), empty, "is empty");
  const auto text = folder.write("text.png", bytes_of("Hello, this is text"));
  expect(read(text), text, "neither a PNG nor a PGM");
  const auto jpeg = folder.write("photo.png", bytes_of("\xff\xd8\xff\xe0 JFIF"));
  expect(read(jpeg), jpeg, "neither a PNG nor a PGM");
  const auto magic_only = folder.write("magic", bytes_of("\x89PNG\r\n\x1a\n"));
  expect(read(magic_only), magic_only, "damaged PNG");
}

TEST(PictureFile, WritingFailsWithTheReason) {
  const TemporaryFolder folder;
  const std::vector<Colour> pixel(1);
  EXPECT_THAT(refusal([&] { write_png(folder.file("no/where.png"), 1, 1, pixel); }),
              HasSubstr("No such file"));
  EXPECT_THAT(refusal([&] { write_png(folder.file("a.png"), 2, 1, pixel); }),
              HasSubstr("2 x 1 pixels cannot be written"));
}

TEST(PictureFile, AFailedWriteRemovesNothing) {
  // A link to a device that is always full; the device itself stays out of danger.
  const TemporaryFolder folder;
  const auto link = folder.file("full.png");
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  std::filesystem::create_symlink("/dev/full", link);
  EXPECT_THAT(refusal([&] { write_png(link, 1, 1, std::vector<Colour>(1)); }),
              HasSubstr("No space left"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(PictureFile, UnwritableIsKnownBefore) {
  const TemporaryFolder folder;
  const auto check = [](const std::string& path) {
    return refusal([&] { require_writable(path); });
  };
  EXPECT_EQ(check(folder.file("new.png")), "accepted");
  EXPECT_EQ(check(folder.write("old.png", {})), "accepted");
  EXPECT_THAT(check(folder.file("no/where.png")), HasSubstr("no folder"));
  EXPECT_THAT(check(folder.file("")), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace stencil
