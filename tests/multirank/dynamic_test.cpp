// Dynamic windows: memory that comes and goes, and what is refused before, between and afterwards.

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

/// Everybody's list, of equal length, by rank.
std::vector<std::vector<std::size_t>> exchange(const std::vector<std::size_t>& mine) {
  std::vector<std::vector<std::size_t>> all(static_cast<std::size_t>(ranks()));
  auto offsets = Window<std::size_t>::allocate(world(), mine.size());
  std::ranges::copy(mine, offsets.local().begin());
  offsets.fence();
  for (int rank = 0; rank < ranks(); ++rank) {
    auto& theirs = all[static_cast<std::size_t>(rank)];
    theirs.resize(mine.size());
    offsets.get(theirs, Rank(rank), 0);
  }
  offsets.fence();
  return all;
}
std::size_t of_right(std::size_t mine) {
  return gather(mine)[static_cast<std::size_t>(int{right()})];
}

TEST(Dynamic, ThousandRegionsAreAllReachable) {
  const auto count = static_cast<std::size_t>(scaled(1000));
  auto window = Window<Word>::dynamic(world());
  EXPECT_TRUE(window.local().empty());
  EXPECT_EQ(window.kind(), WindowKind::dynamic);
  std::vector<std::vector<Word>> memory(count);
  std::vector<std::size_t> offsets(count);
  for (std::size_t i = 0; i < count; ++i) {
    memory[i].resize(1 + i % 7);
    offsets[i] = window.attach(memory[i]);
  }
  const auto theirs = exchange(offsets)[static_cast<std::size_t>(int{right()})];
  for (std::size_t i = 0; i < count; ++i) {
    window.put(i + static_cast<Word>(me()), right(), theirs[i] + i % 7);
    window.fetch_add(1, right(), theirs[i] + i % 7);
  }
  window.fence();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(memory[i].back(), i + static_cast<Word>(int{left()}) + 1) << i;
  }
  for (std::size_t i = 0; i < count; i += 2) window.detach(memory[i]);
  window.fence();
  for (std::size_t i = 0; i < count; i += 13) {
    if (i % 2 == 1) {
      (void)window.get(right(), theirs[i]);
    } else {
      EXPECT_EQ(thrown_code([&] { (void)window.get(right(), theirs[i]); }),
                ErrorCode::out_of_range);
    }
  }
  window.fence();
}

TEST(Dynamic, AsManyRegionsAsItWasMadeFor) {
  auto window = Window<Word>::dynamic(world(), {.most_regions = 3});
  std::array<Word, 8> memory{};
  const std::span<Word> words(memory);
  for (std::size_t i = 0; i < 3; ++i) (void)window.attach(words.subspan(2 * i, 1));
  std::string what;
  EXPECT_EQ(thrown_code([&] { (void)window.attach(words.subspan(6, 1)); }, &what),
            ErrorCode::out_of_memory);
  EXPECT_NE(what.find("3 regions"), std::string::npos) << what;
  window.detach(words.subspan(2, 1));
  const std::size_t theirs = of_right(window.attach(words.subspan(6, 1)));
  window.put(Word{4}, right(), theirs);
  window.fence();
  EXPECT_EQ(memory[6], 4U);
}

// B097: more than there is room for by default, and all of them again.
TEST(Dynamic, MoreRegionsThanUsualIfItIsMadeForThem) {
  const auto count = static_cast<std::size_t>(scaled(1200));
  auto window = Window<Word>::dynamic(world(), {.most_regions = count});
  std::vector<Word> memory(2 * count);
  const auto region = [&](std::size_t i) { return std::span(memory).subspan(2 * i, 1); };
  for (int life = 1; life <= 2; ++life) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t offset = window.attach(region(i));
      if (i == 0) first = offset;
    }
    const std::size_t theirs = of_right(first);
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
      window.fetch_add(1, right(), theirs + 2 * i);
      EXPECT_EQ(thrown_code([&] { (void)window.get(right(), theirs + 2 * i + 1); }),
                ErrorCode::out_of_range);
    }
    window.fence();
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
      EXPECT_EQ(region(i)[0], static_cast<Word>(life));
    }
    for (std::size_t i = 0; i < count; ++i) window.detach(region(i));
    window.fence();
  }
}

TEST(Dynamic, OverlapsAreRefusedNeighboursAreNot) {
  auto window = Window<Word>::dynamic(world());
  std::array<Word, 12> memory{};
  const std::span<Word> words(memory);
  const std::size_t offset = window.attach(words.subspan(4, 4));
  for (const auto& [first, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{4, 4}, {5, 2}, {3, 2}, {7, 2}, {0, 12}}) {
    const auto wrong = words.subspan(first, count);
    std::string what;
    EXPECT_EQ(thrown_code([&] { (void)window.attach(wrong); }, &what), ErrorCode::invalid_argument)
        << first;
    EXPECT_NE(what.find("overlaps the 32 bytes"), std::string::npos) << what;
  }
  EXPECT_EQ(window.attach(words.first(4)) + 4, offset);
  EXPECT_EQ(window.attach(words.last(4)), offset + 4);
  const std::size_t theirs = of_right(offset);
  const std::array<Word, 4> values{1, 2, 3, 4};
  window.put(values, right(), theirs);
  EXPECT_EQ(thrown_code([&] { window.put(values, right(), theirs + 1); }), ErrorCode::out_of_range)
      << "regions that touch are still two";
  window.fence();
  EXPECT_EQ(memory[7], 4U);
  EXPECT_EQ(memory[8], 0U);
}

TEST(Dynamic, OnlyWhatWasAttachedIsDetached) {
  auto window = Window<Word>::dynamic(world());
  std::array<Word, 8> memory{};
  const std::span<Word> words(memory);
  (void)window.attach(words.first(4));
  for (const auto wrong : {words.last(4), words.first(3), words.first(5), words.subspan(1, 3)}) {
    EXPECT_EQ(thrown_code([&] { window.detach(wrong); }), ErrorCode::invalid_argument);
  }
  window.detach(words.first(4));
  EXPECT_EQ(thrown_code([&] { window.detach(words.first(4)); }), ErrorCode::invalid_argument);
  window.fence();
}

/// Every operation at an address that no region holds: refused, by name and numbers.
void expect_nothing_at(Window<Word>& window, std::size_t offset) {
  std::vector<Word> values(2, 9);
  Word result = 0;
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"put", [&] { window.put(values, right(), offset); }},
      {"get", [&] { window.get(values, right(), offset); }},
      {"rput", [&] { (void)window.rput(values, right(), offset); }},
      {"rget", [&] { (void)window.rget(values, right(), offset); }},
      {"accumulate", [&] { window.accumulate(values, right(), offset, op::sum); }},
      {"fetch_and_op", [&] { window.fetch_add(1, result, right(), offset); }},
      {"compare_and_swap", [&] { window.compare_and_swap(0, 1, right(), offset); }},
      {"put_notify", [&] { window.put_notify(values, right(), offset, 1); }},
  };
  for (const auto& [name, call] : calls) {
    std::string what;
    EXPECT_EQ(thrown_code(call, &what), ErrorCode::out_of_range) << name;
    EXPECT_EQ(what.find(std::string(name) + ": "), 0U) << what;
    EXPECT_NE(what.find("offset " + std::to_string(8 * offset)), std::string::npos) << what;
    EXPECT_NE(what.find("attach()"), std::string::npos) << what;
  }
}

TEST(Dynamic, WhatIsNotAttachedIsOutOfRange) {
  auto window = Window<Word>::dynamic(world());
  std::array<Word, 16> memory{};
  const std::span<Word> words(memory);
  expect_nothing_at(window, of_right(reinterpret_cast<std::uintptr_t>(words.data()) / 8));
  const std::size_t first = window.attach(words.subspan(2, 2));
  (void)window.attach(words.subspan(10, 2));
  const std::size_t theirs = of_right(first);
  mpi_barrier();
  for (const std::size_t offset : {std::size_t{0}, theirs - 2, theirs - 1, theirs + 2, theirs + 4,
                                   theirs + 7, theirs + 10, ~std::size_t{0} / 8}) {
    expect_nothing_at(window, offset);
  }
  window.fetch_add(1, right(), theirs + 1);
  mpi_barrier();
  window.detach(words.subspan(2, 2));
  mpi_barrier();
  expect_nothing_at(window, theirs);
  window.fence();
  EXPECT_EQ(memory[3], 1U);
  EXPECT_EQ(std::ranges::count(memory, Word{0}), 15);
}

TEST(Dynamic, ARegionOfOneByte) {
  auto window = Window<std::byte>::dynamic(world());
  std::array<std::byte, 3> memory{};
  const std::size_t offset = window.attach(std::span(memory).subspan(1, 1));
  EXPECT_EQ(offset, reinterpret_cast<std::uintptr_t>(&memory[1]));
  const std::size_t theirs = of_right(offset);
  window.put(std::byte{5}, right(), theirs);
  EXPECT_EQ(thrown_code([&] { window.put(std::byte{6}, right(), theirs + 1); }),
            ErrorCode::out_of_range);
  EXPECT_EQ(thrown_code([&] { window.put(std::byte{6}, right(), theirs - 1); }),
            ErrorCode::out_of_range);
  window.fence();
  EXPECT_EQ(memory, (std::array<std::byte, 3>{std::byte{0}, std::byte{5}, std::byte{0}}));
}

TEST(Dynamic, TheSameMemoryComesAgain) {
  auto window = Window<Word>::dynamic(world());
  std::vector<Word> memory(4);
  for (Word round = 1; round <= static_cast<Word>(scaled(20)); ++round) {
    const std::size_t theirs = of_right(window.attach(memory));
    EXPECT_EQ(window.get(right(), theirs), round - 1) << "it keeps what it holds";
    mpi_barrier();
    window.put(round, right(), theirs);
    window.accumulate(Word{1}, right(), theirs + 1, op::sum);
    window.fence();
    EXPECT_EQ(memory[0], round);
    window.detach(memory);
    window.fence();
  }
  EXPECT_EQ(memory[1], static_cast<Word>(scaled(20)));
}

TEST(Dynamic, UnusableMemoryIsRefused) {
  auto window = Window<Word>::dynamic(world());
  auto* const hole =
      static_cast<std::byte*>(::mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::array<Word, 4> memory{};
  const auto at = [](void* address) { return std::span(static_cast<Word*>(address), 1); };
  EXPECT_EQ(thrown_code([&] { (void)window.attach(at(hole)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown_code([&] { (void)window.attach({}); }), ErrorCode::invalid_argument);
  ::munmap(hole, 8192);
  std::string what;
  auto* const odd = reinterpret_cast<std::byte*>(memory.data()) + 4;
  EXPECT_EQ(thrown_code([&] { (void)window.attach(at(odd)); }, &what), ErrorCode::misaligned);
  EXPECT_NE(what.find("8 bytes"), std::string::npos) << what;
  (void)window.attach(memory);  // nothing of all that is left behind
  window.fence();
}

TEST(Dynamic, OtherKindsTakeNoMemory) {
  std::array<Word, 4> memory{};
  auto window = Window<Word>::allocate(world(), 1);
  std::string what;
  EXPECT_EQ(thrown_code([&] { (void)window.attach(memory); }, &what), ErrorCode::invalid_argument);
  EXPECT_NE(what.find("allocated"), std::string::npos) << what;
  EXPECT_EQ(thrown_code([&] { window.detach(memory); }), ErrorCode::invalid_argument);
  window.fence();
}

// Everything of the other chapters works on regions too.
TEST(Dynamic, LocksEpochsNotificationsAndRequests) {
  auto window = Window<Word>::dynamic(world());
  std::vector<Word> memory(20'000);
  const std::size_t offset = window.attach(memory);
  const std::size_t theirs = of_right(offset);
  const auto of_first = gather(offset)[0];
  for (int round = 0; round < scaled(40); ++round) {
    const auto guard = window.lock(Rank(0), LockMode::exclusive);
    window.put(window.get(Rank(0), of_first) + 1, Rank(0), of_first);
  }
  window.fence();
  EXPECT_EQ(window.get(Rank(0), of_first), static_cast<Word>(scaled(40) * ranks()));
  const std::vector<Word> values(10'000, static_cast<Word>(me() + 1));
  window.put_notify(values, right(), theirs + 10'000, 3);
  window.wait_notify(3);
  EXPECT_EQ(memory[19'999], static_cast<Word>(int{left()} + 1));
  const std::array<Rank, 1> origins{left()};
  const std::array<Rank, 1> targets{right()};
  window.post(origins);
  window.start(targets);
  window
      .rput(values, Layout::strided(1, {{3, 2}}), right(), theirs + 5, Layout::strided(1, {{3, 1}}))
      .wait();
  window.complete();
  window.wait();
  EXPECT_EQ(memory[7], static_cast<Word>(int{left()} + 1));
  window.fence();
}

// B092: attaching takes no lock that its program might hold.
TEST(Dynamic, RegionsComeAndGoUnderALockOfAll) {
  auto window = Window<Word>::dynamic(world());
  std::vector<Word> memory(10);
  {
    const auto guard = window.lock_all();
    for (Word round = 1; round <= static_cast<Word>(scaled(40)); ++round) {
      const std::size_t theirs = of_right(window.attach(memory));
      window.put(round, right(), theirs + 9);
      window.flush(right());
      mpi_barrier();
      EXPECT_EQ(memory[9], round);
      window.detach(memory);
      mpi_barrier();
    }
  }
  window.fence();
}

// Each rank has one region that stays and others that come and go while everybody uses the first.
TEST(Dynamic, OthersOperateWhileRegionsComeAndGo) {
  auto window = Window<Word>::dynamic(world());
  std::vector<Word> fixed(2000);
  std::vector<std::vector<Word>> passing(8, std::vector<Word>(50));
  const auto offsets = gather(window.attach(fixed));
  const int rounds = scaled(150);
  const std::vector<Word> values(900, static_cast<Word>(me() + 1));
  std::vector<Word> seen(900);
  for (int round = 0; round < rounds; ++round) {
    auto& mine = passing[static_cast<std::size_t>(round) % passing.size()];
    if (round >= static_cast<int>(passing.size())) window.detach(mine);
    (void)window.attach(mine);
    const Rank target((me() + round) % ranks());
    const std::size_t there = offsets[static_cast<std::size_t>(int{target})];
    window.fetch_add(1, target, there);
    window.accumulate(Word{1}, target, there + 1, op::sum);
    if (int{target} == int{right()}) {
      window.put(values, target, there + 100);
      window.get(seen, target, there + 100);
      window.flush(target);
    }
  }
  window.fence();
  EXPECT_EQ(fixed[0], static_cast<Word>(rounds));
  EXPECT_EQ(fixed[1], static_cast<Word>(rounds));
  const auto put = std::span(fixed).subspan(100, 900);
  EXPECT_EQ(std::ranges::count(put, static_cast<Word>(int{left()} + 1)), 900);
  for (const auto& one : passing) EXPECT_TRUE(all_zero(std::as_bytes(std::span(one))));
  window.fence();
}

}  // namespace
}  // namespace oriel::test
