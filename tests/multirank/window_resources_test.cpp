// What windows hold on to: many at once, many one after another, and nothing afterwards.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

std::ptrdiff_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

std::ptrdiff_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::ptrdiff_t total = 0;
  std::ptrdiff_t resident = 0;
  statm >> total >> resident;
  return resident;
}

class Resources : public BothKinds {
 protected:
  [[nodiscard]] static Rank right() { return Rank((me() + 1) % ranks()); }

  void cycle(std::size_t count) {
    Exposed<Word> words(world(), GetParam(), count);
    words.window.put(Word{1}, right(), count - 1);
    words.window.fetch_add(1, right(), 0);
    words.window.fence();
    EXPECT_EQ(words.window.local()[0], count == 1 ? 2U : 1U);
    std::ranges::fill(words.window.local(), Word{1});
    if (count % 2 == 0) words.window.free();
  }
};

// B172: descriptors and mappings as before, memory not by far what was used.
TEST_P(Resources, CreationAndFreeLeaveNothingBehind) {
  constexpr std::size_t kWords = 32 * 1024;  // 256 KiB, every page of it touched
  for (int warm_up = 0; warm_up < 10; ++warm_up) cycle(kWords);
  const auto descriptors = open_descriptors();
  const auto maps = mappings();
  const auto pages = resident_pages();
  const int cycles = scaled(200);
  for (int i = 0; i < cycles; ++i) cycle(kWords - static_cast<std::size_t>(i % 2));
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 10) << "of " << cycles << " windows";  // the heap may have grown
  EXPECT_LE(resident_pages(), pages + cycles * 64 / 4) << "a quarter of what the windows used";
}

// B088
TEST_P(Resources, HundredsOfWindowsLiveSideBySide) {
  const auto count = static_cast<std::size_t>(scaled(300));
  const auto descriptors = open_descriptors();
  {
    std::vector<Exposed<Word>> windows;
    for (std::size_t i = 0; i < count; ++i) windows.emplace_back(world(), GetParam(), 1);
    EXPECT_LE(open_descriptors(), descriptors + 20) << "descriptors are kept per window";
    for (std::size_t i = 0; i < count; ++i) windows[i].window.put(Word{i}, right(), 0);
    for (std::size_t i = 0; i < count; ++i) windows[i].window.fetch_add(1, right(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      windows[i].window.fence();
      EXPECT_EQ(windows[i].window.local()[0], i + 1);
    }
  }
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST_P(Resources, TeamsComeAndGo) {
  for (int warm_up = 0; warm_up < 3; ++warm_up) (void)world().split(0);
  const auto descriptors = open_descriptors();
  for (int round = 0; round < scaled(40); ++round) {
    const Team half = world().split(me() % 2);
    Exposed<Word> words(half, GetParam(), 1);
    words.window.put(Word{3}, Rank((half.rank() + 1) % half.size()), 0);
    words.window.fence();
    EXPECT_EQ(words.window.local()[0], 3U);
  }
  EXPECT_EQ(open_descriptors(), descriptors);
}

INSTANTIATE_TEST_SUITE_P(Both, Resources, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
