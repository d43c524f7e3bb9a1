// What windows hold on to: many at once, many one after another, and nothing afterwards.

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
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
TEST_P(Resources, ThousandsOfWindowsLiveSideBySide) {
  const auto count = static_cast<std::size_t>(scaled(ranks() == 2 ? 5000 : 1000));
  const auto descriptors = open_descriptors();
  const auto maps = mappings();
  const auto pages = resident_pages();
  {
    std::vector<Exposed<Word>> windows;
    windows.reserve(count);
    for (std::size_t i = 0; i < count; ++i) windows.emplace_back(world(), GetParam(), 1);
    EXPECT_LE(open_descriptors(), descriptors + 20) << "descriptors are kept per window";
    // This rank's segment and those of the others; the kernel has 65530 mappings for a process.
    const auto expected = static_cast<std::ptrdiff_t>(count) * ranks();
    EXPECT_LE(mappings(), maps + expected + 100);
    EXPECT_LE(resident_pages(), pages + static_cast<std::ptrdiff_t>(count) * (2 * ranks() + 2))
        << "a page of words, a page of memory and what is kept about the window";
    for (std::size_t i = 0; i < count; ++i) windows[i].window.put(Word{i}, right(), 0);
    for (std::size_t i = 0; i < count; i += 10) windows[i].window.fetch_add(1, right(), 0);
    for (std::size_t i = 0; i < count; ++i) windows[i].window.flush_all();
    world().barrier();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(windows[i].window.local()[0], i % 10 == 0 ? i + 1 : i);
    }
    for (std::size_t i = 0; i < count; i += 100) windows[i].window.fence();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 20);
}

/// Cycles of a test that a variable can make longer than the suite has time for.
int cycles_or(int usual) {
  const char* const asked = std::getenv("ORIEL_TEST_WINDOW_CYCLES");
  return asked == nullptr ? scaled(usual) : std::atoi(asked);
}

// ORIEL_TEST_WINDOW_CYCLES=200000 for the full number.
TEST_P(Resources, CyclesOfCreationAndFreeDoNotGrow) {
  const auto cycle_once = [] { Exposed<Word>(world(), GetParam(), 100).window.free(); };
  for (int warm_up = 0; warm_up < 200; ++warm_up) cycle_once();
  const auto descriptors = open_descriptors();
  const auto maps = mappings();
  const auto pages = resident_pages();
  const int cycles = cycles_or(1000);
  for (int i = 0; i < cycles; ++i) cycle_once();
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 5) << "of " << cycles << " windows";
  EXPECT_LE(resident_pages(), pages + 256) << "of " << cycles << " windows";
}

// B173: one rank has all, the others nothing, and everybody looks.
TEST(SharedResources, CyclesOfPartsOfOneRankDoNotGrow) {
  const Team& team = job().node();
  const auto cycle_once = [&] {
    auto window = Window<Word>::allocate_shared(team, team.rank() == 0 ? 100'000 : 0);
    const auto all = window.shared_span(Rank(0));
    all[static_cast<std::size_t>(me()) * 4096] = 1;
    window.fence();
  };
  for (int warm_up = 0; warm_up < 50; ++warm_up) cycle_once();
  const auto descriptors = open_descriptors();
  const auto maps = mappings();
  const auto pages = resident_pages();
  const int cycles = cycles_or(300);
  for (int i = 0; i < cycles; ++i) cycle_once();
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 5) << "of " << cycles << " windows";
  EXPECT_LE(resident_pages(), pages + 256) << "of " << cycles << " windows";
}

/// As long as it lives, this process opens no further file.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_{};
};

// B108: a rank that runs out of something says so to all; older windows and the team go on.
TEST(SharedResources, ARankWithoutDescriptorsFailsTheCreationOnAll) {
  const Team& team = job().node();
  auto older = Window<Word>::allocate_shared(team, 1);
  const auto descriptors = open_descriptors();
  for (int guilty = 0; guilty < team.size(); ++guilty) {
    const bool mine = team.rank() == guilty;
    std::string what;
    std::error_code code;
    {
      std::optional<NoMoreDescriptors> limit;
      if (mine) limit.emplace();
      code = thrown_code([&] { (void)Window<Word>::allocate_shared(team, 1000); }, &what);
    }
    if (mine) {
      EXPECT_TRUE(code == ErrorCode::out_of_memory || code == ErrorCode::unsupported) << what;
    } else {
      EXPECT_EQ(code, ErrorCode::peer_failed) << what;
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    older.fetch_add(1, Rank(guilty), 0);
    older.fence();
    EXPECT_EQ(older.get(Rank(guilty), 0), static_cast<Word>(team.size()));
    older.fence();
  }
}

TEST_P(Resources, CyclesOfTeamsDoNotGrow) {
  const auto cycle_once = [] {
    const Team part = world().split(me() % 2);
    part.barrier();
  };
  for (int warm_up = 0; warm_up < 50; ++warm_up) cycle_once();
  const auto descriptors = open_descriptors();
  const auto maps = mappings();
  const auto pages = resident_pages();
  const int cycles = cycles_or(250);
  for (int i = 0; i < cycles; ++i) cycle_once();
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LE(mappings(), maps + 5) << "of " << cycles << " teams";
  EXPECT_LE(resident_pages(), pages + 256) << "of " << cycles << " teams";
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
