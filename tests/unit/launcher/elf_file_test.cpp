#include "launcher/elf_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::Not;

fs::path built(const char* name) {
  return fs::path(ORIEL_TEST_PROGRAMS) / name;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<ElfFile> parse(std::string_view bytes) {
  return parse_elf(std::as_bytes(std::span(bytes)));
}

TEST(ElfFile, AProgramTellsWhatItTakesAndFromWhom) {
  const auto elf = read_elf(built("open_mpi_user"));
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->has_interpreter);
  EXPECT_EQ(elf->soname, "");
  EXPECT_THAT(elf->needed, AllOf(Contains("libmpi.so.40"), Contains("libuser.so")));
  EXPECT_THAT(elf->search_path, Contains(EndsWith("programs")));
  EXPECT_THAT(elf->undefined, AllOf(Contains("MPI_Put"), Contains("mpi_win_fence_f08_")));
  EXPECT_THAT(elf->defined, Not(Contains("MPI_Put")));
}

TEST(ElfFile, ALibraryTellsWhatItOffers) {
  const auto elf = read_elf(built("libmpi.so.40"));
  ASSERT_TRUE(elf);
  EXPECT_FALSE(elf->has_interpreter);
  EXPECT_EQ(elf->soname, "libmpi.so.40");
  EXPECT_THAT(elf->defined, Contains("MPI_Put"));
}

TEST(ElfFile, WhatIsNoElfFileIsNone) {
  EXPECT_FALSE(read_elf(built("missing")));
  EXPECT_FALSE(read_elf(built("")));  // a directory
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("#!/bin/sh\n"));
  EXPECT_FALSE(
      parse("\x7f"
            "ELF"));
}

TEST(ElfFile, OfAnotherWordSizeOrByteOrderIsNone) {
  const std::string good = bytes_of(built("plain_user"));
  std::string other = good;
  other[4] = 1;
  EXPECT_FALSE(parse(other));
  other = good;
  other[5] = static_cast<char>(3 - other[5]);
  EXPECT_FALSE(parse(other));
}

TEST(ElfFile, ATruncatedFileIsNone) {
  const std::string good = bytes_of(built("libmpi.so.40"));
  ASSERT_TRUE(parse(good));
  for (std::size_t size = 0; size < good.size(); size += 61) {
    EXPECT_FALSE(parse(std::string_view(good).substr(0, size))) << size;
  }
}

/// Sections may lie anywhere and refer to anything: nothing is read beyond the file.
TEST(ElfFile, ADamagedFileIsReadWithinItsBounds) {
  const std::string good = bytes_of(built("libmpi.so.40"));
  std::minstd_rand random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 40; ++i)
      bad[16 + random() % (bad.size() - 16)] = static_cast<char>(random());
    // The tables of sections, at the end, are where it hurts.
    for (int i = 0; i < 4; ++i) bad[bad.size() - 1 - random() % 1024] = static_cast<char>(random());
    const auto elf = parse(bad);
    EXPECT_LE(elf ? elf->undefined.size() : 0, bad.size());
  }
}

}  // namespace
}  // namespace oriel::launcher
