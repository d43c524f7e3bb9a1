// Windows as objects: sizes, teams, contents at the start, what they tell about themselves.

#include <cstdint>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class WindowOf : public BothKinds {
 protected:
  [[nodiscard]] static Rank right() { return Rank((me() + 1) % ranks()); }
  [[nodiscard]] static int left() { return (me() + ranks() - 1) % ranks(); }
};

TEST_P(WindowOf, DifferentSizesKnowsEverybodysSize) {
  const auto size_of = [](int rank) { return static_cast<std::size_t>((rank * 7) % 5 * 1000); };
  Exposed<Word> words(world(), GetParam(), size_of(me()));  // rank 0: none
  EXPECT_EQ(words.window.local().size(), size_of(me()));
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(words.window.size(Rank(rank)), size_of(rank));
    if (size_of(rank) == 0) continue;
    words.window.put(static_cast<Word>(me()), Rank(rank), static_cast<std::size_t>(me()));
  }
  words.window.fence();
  for (std::size_t index = 0; index < words.window.local().size(); ++index) {
    const Word expected = index < static_cast<std::size_t>(ranks()) ? index : 0;
    EXPECT_EQ(words.window.local()[index], expected);
  }
}

// B072, B011: only the last rank has memory.
TEST_P(WindowOf, NothingOnAllRanksButOne) {
  const int owner = ranks() - 1;
  Exposed<std::byte> bytes(world(), GetParam(), me() == owner ? 8 : 0);
  bytes.window.flush_all();
  if (me() == owner) fill(bytes.window.local(), 5);
  bytes.window.fence();
  std::vector<std::byte> seen(8);
  bytes.window.get(seen, Rank(owner), 0);
  bytes.window.flush(Rank(owner));
  EXPECT_EQ(mismatch(seen, 5), 8U);
  if (ranks() > 1) {
    const Rank empty(ranks() - 2);
    EXPECT_EQ(thrown_code([&] { bytes.window.get(std::span(seen).first(1), empty, 0); }),
              ErrorCode::out_of_range);
    EXPECT_EQ(thrown_code([&] { (void)bytes.window.get(empty, 0); }), ErrorCode::out_of_range);
    bytes.window.get({}, empty, 0);
    bytes.window.put(std::span<const std::byte>{}, empty, 0);
    bytes.window.flush(empty);
  }
  bytes.window.fence();
}

TEST_P(WindowOf, NothingAtAll) {
  Exposed<Word> words(world(), GetParam(), 0);
  EXPECT_TRUE(words.window.local().empty());
  words.window.put(std::span<const Word>{}, right(), 0);
  words.window.get({}, right(), 0);
  EXPECT_EQ(thrown_code([&] { words.window.put(Word{1}, right(), 0); }), ErrorCode::out_of_range);
  words.window.fence();
}

TEST_P(WindowOf, ZeroBytesMayBePutAtTheEndButNotBeyond) {
  Exposed<Word> words(world(), GetParam(), 3);
  words.window.put(std::span<const Word>{}, right(), 3);
  words.window.get({}, right(), 3);
  EXPECT_EQ(thrown_code([&] { words.window.put(std::span<const Word>{}, right(), 4); }),
            ErrorCode::out_of_range);
  words.window.fence();
}

// B074, B076: everything is counted in elements, whatever their size.
TEST_P(WindowOf, ElementsOfAnOddSizeCountsInElements) {
  struct Triple {
    std::int32_t a, b, c;
  };
  Exposed<Triple> triples(world(), GetParam(), 5);
  EXPECT_EQ(triples.window.size(right()), 5U);
  const std::vector<Triple> mine{{me(), 2, 3}, {4, me(), 6}};
  triples.window.put(mine, right(), 3);
  triples.window.put(Triple{7, 8, me()}, right(), 0);
  triples.window.fence();
  const auto local = triples.window.local();
  EXPECT_EQ(local[3].a, left());
  EXPECT_EQ(local[4].b, left());
  EXPECT_EQ(local[0].c, left());
  EXPECT_EQ(local[2].c, 0);
  EXPECT_EQ(triples.window.get(right(), 4).b, me());
  EXPECT_EQ(thrown_code([&] { triples.window.put(mine, right(), 4); }), ErrorCode::out_of_range);
  triples.window.fence();
}

// B078
TEST_P(WindowOf, TeamsOfOneLivesBesideAWorldWindow) {
  Exposed<Word> everyone(world(), GetParam(), 1);
  const Team alone = world().split(-1);
  Exposed<Word> mine(alone, GetParam(), 1);
  auto byte = Window<std::byte>::allocate(alone, 1);
  mine.window.put(Word{7}, Rank(0), 0);
  EXPECT_EQ(mine.window.fetch_add(1, Rank(0), 0), 7U);
  EXPECT_EQ(mine.window.compare_and_swap(8, 9, Rank(0), 0), 8U);
  byte.put(std::byte{3}, Rank(0), 0);
  byte.fence();
  EXPECT_EQ(byte.get(Rank(0), 0), std::byte{3});
  for (int round = 0; round <= me(); ++round) mine.window.fence();  // as often as one likes
  everyone.window.put(Word{1}, right(), 0);
  everyone.window.fence();
  EXPECT_EQ(everyone.window.local()[0], 1U);
  EXPECT_EQ(mine.window.local()[0], 9U);
}

TEST_P(WindowOf, NodeTeamStaysOnTheMachine) {
  Exposed<Word> words(job().node(), GetParam(), 1);
  const Team& team = words.window.team();
  const Rank next((team.rank() + 1) % team.size());
  words.window.fetch_add(5, next, 0);
  words.window.fence();
  EXPECT_EQ(words.window.local()[0], 5U);
  EXPECT_EQ(words.window.coherence(),
            fabric() == "verbs" ? CoherenceDomain::nic : CoherenceDomain::cpu);
}

TEST_P(WindowOf, ReversedTeamUsesTheTeamsRanks) {
  const Team reversed = world().split(0, -me());
  Exposed<Word> words(reversed, GetParam(), 1 + static_cast<std::size_t>(reversed.rank()));
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(words.window.size(Rank(rank)), 1 + static_cast<std::size_t>(rank));
  }
  words.window.put(static_cast<Word>(me()), Rank(0), 0);  // world rank ranks() - 1
  words.window.flush(Rank(0));
  words.window.put(static_cast<Word>(me()), reversed.rank(), 0);
  words.window.fence();
  if (reversed.rank() != 0) {
    EXPECT_EQ(words.window.local()[0], static_cast<Word>(me()));
  }
}

TEST_P(WindowOf, AtomicsTellsTheirDomain) {
  Exposed<Word> words(world(), GetParam(), 1);
  const CoherenceDomain domain = words.window.coherence();
  // Soft-RoCE's atomics are not atomic to the CPU: all of them must go through the device.
  EXPECT_EQ(domain, fabric() == "shm" ? CoherenceDomain::cpu : CoherenceDomain::nic);
  const auto all = gather(domain);
  EXPECT_EQ(std::ranges::count(all, domain), ranks()) << "ranks disagree";
  words.window.fence();
}

// B085
TEST_P(WindowOf, AnyKindDescribesItself) {
  Exposed<Word> words(world(), GetParam(), static_cast<std::size_t>(100 + me()));
  const std::string text = words.window.describe();
  const auto has = [&](std::string_view what) {
    EXPECT_NE(text.find(what), std::string::npos) << "'" << what << "' is not in:\n" << text;
  };
  has(GetParam() == Kind::allocated ? "allocated" : "created");
  has(to_string(words.window.coherence()));
  for (int rank = 0; rank < ranks(); ++rank) {
    has("rank " + std::to_string(rank));
    has(std::to_string(8 * (100 + rank)) + " bytes");
  }
  words.window.fence();
}

TEST(WindowAllocate, GivesZeroedAlignedMemory) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{4097}, std::size_t{1'000'000}}) {
    auto window = Window<std::byte>::allocate(world(), count);
    EXPECT_TRUE(all_zero(window.local()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.local().data()) % 64, 0U);
    std::ranges::fill(window.local(), std::byte{1});  // the next one may get the same pages
    window.fence();
  }
}

// B114, B118: what nobody touches costs nothing on one machine, so parts may be large.
TEST(WindowAllocate, OfAnySizeInAnyOrderOfRanks) {
  constexpr std::size_t kGiB = std::size_t{1} << 30U;
  std::vector<std::size_t> sizes{0, 1, 4095, 4096, 4097, std::size_t{1} << 20U};
  if (fabric() == "shm") sizes.insert(sizes.end(), {kGiB, 3 * kGiB, 5 * kGiB, 9 * kGiB});
  const auto size_of = [&](int rank, std::size_t turn) {
    return sizes[(turn + 3 * static_cast<std::size_t>(rank)) % sizes.size()];
  };
  const Rank right((me() + 1) % ranks());
  for (std::size_t turn = 0; turn < sizes.size(); ++turn) {
    auto window = Window<std::byte>::allocate(world(), size_of(me(), turn));
    const std::size_t theirs = size_of(int{right}, turn);
    EXPECT_EQ(window.size(right), theirs);
    for (std::size_t at = theirs; at > 0; at /= 2) window.put(std::byte{1}, right, at - 1);
    if (theirs > 0) window.accumulate(std::byte{6}, right, theirs - 1, op::bor);
    window.fence();
    for (std::size_t at = window.local().size() / 2; at > 0; at /= 2) {
      EXPECT_EQ(window.local()[at - 1], std::byte{1}) << at;
    }
    if (!window.local().empty()) {
      EXPECT_EQ(window.local().back(), std::byte{7});
    }
    window.fence();
  }
}

TEST(WindowCreate, KeepsWhatTheMemoryHolds) {
  std::vector<Word> memory(100, static_cast<Word>(me()) + 50);
  {
    auto window = Window<Word>::create(world(), memory);
    EXPECT_EQ(window.local().data(), memory.data());
    const Rank right((me() + 1) % ranks());
    EXPECT_EQ(window.get(right, 99), static_cast<Word>(int{right}) + 50);
    window.put(Word{1}, right, 3);
  }
  EXPECT_EQ(memory[3], 1U) << "leaving the window completes the puts of all ranks";
  EXPECT_EQ(memory[4], static_cast<Word>(me()) + 50);
}

INSTANTIATE_TEST_SUITE_P(Both, WindowOf, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
