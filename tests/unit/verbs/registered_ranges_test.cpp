#include "transport/verbs/registered_ranges.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace oriel::verbs {
namespace {

class RegisteredRangesTest : public ::testing::Test {
 protected:
  std::span<const std::byte> part(std::size_t from, std::size_t bytes) const {
    return std::span(memory_).subspan(from, bytes);
  }
  const std::byte* at(std::size_t offset) const { return memory_.data() + offset; }

  std::array<std::byte, 4096> memory_{};
  RegisteredRanges ranges_;
};

TEST_F(RegisteredRangesTest, NothingIsFoundWhereNothingIsRegistered) {
  EXPECT_EQ(ranges_.find(at(0)).bytes, 0U);
  ranges_.add(part(100, 50), 7);
  EXPECT_EQ(ranges_.find(at(99)).bytes, 0U);
  EXPECT_EQ(ranges_.find(at(150)).bytes, 0U);
}

TEST_F(RegisteredRangesTest, FindsTheKeyAndWhatIsLeftOfTheRange) {
  ranges_.add(part(100, 50), 7);
  ranges_.add(part(0, 50), 8);
  ranges_.add(part(200, 50), 9);
  EXPECT_EQ(ranges_.find(at(100)).lkey, 7U);
  EXPECT_EQ(ranges_.find(at(100)).bytes, 50U);
  EXPECT_EQ(ranges_.find(at(149)).bytes, 1U);
  EXPECT_EQ(ranges_.find(at(49)).lkey, 8U);
  EXPECT_EQ(ranges_.find(at(249)).lkey, 9U);
}

TEST_F(RegisteredRangesTest, AnEnclosingRangeIsFoundBehindSmallerOnes) {
  ranges_.add(part(0, 1000), 1);
  ranges_.add(part(100, 10), 2);
  ranges_.add(part(200, 10), 3);
  EXPECT_EQ(ranges_.find(at(500)).lkey, 1U);
  EXPECT_EQ(ranges_.find(at(500)).bytes, 500U);
}

TEST_F(RegisteredRangesTest, TheLastHitIsForgottenWhenItGoes) {
  ranges_.add(part(0, 100), 1);
  ranges_.add(part(100, 100), 2);
  EXPECT_EQ(ranges_.find(at(150)).lkey, 2U);
  ranges_.remove(part(100, 100), 2);
  EXPECT_EQ(ranges_.find(at(150)).bytes, 0U);
  EXPECT_EQ(ranges_.find(at(50)).lkey, 1U);
}

TEST_F(RegisteredRangesTest, OfTwoRegistrationsOfTheSameMemoryOneMayGo) {
  ranges_.add(part(0, 100), 1);
  ranges_.add(part(0, 100), 2);
  ranges_.remove(part(0, 100), 1);
  EXPECT_EQ(ranges_.find(at(50)).lkey, 2U);
  EXPECT_EQ(ranges_.size(), 1U);
}

TEST_F(RegisteredRangesTest, AgreesWithAPlainSearchOnRandomOverlappingRanges) {
  std::mt19937 random(1);
  struct Range {
    std::size_t from, bytes;
    std::uint32_t key;
  };
  std::vector<Range> all;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    if (all.size() < 40 && random() % 2 == 0) {
      const std::size_t from = random() % 4000;
      all.push_back({from, 1 + random() % (4096 - from), round});
      ranges_.add(part(from, all.back().bytes), round);
    } else if (!all.empty() && random() % 4 == 0) {
      const auto gone = all.begin() + static_cast<std::ptrdiff_t>(random() % all.size());
      ranges_.remove(part(gone->from, gone->bytes), gone->key);
      all.erase(gone);
    }
    const std::size_t offset = random() % 4096;
    const auto found = ranges_.find(at(offset));
    bool contained = false;
    bool key_is_right = false;
    for (const Range& range : all) {
      if (offset < range.from || offset >= range.from + range.bytes) continue;
      contained = true;
      key_is_right |= found.lkey == range.key && found.bytes == range.from + range.bytes - offset;
    }
    ASSERT_EQ(found.bytes > 0, contained) << "round " << round;
    ASSERT_EQ(key_is_right, contained) << "round " << round;
  }
}

TEST(SharedRanges, AViewFollowsWhatOthersRegister) {
  std::array<std::byte, 64> memory{};
  SharedRanges shared;
  RangesView view(shared);
  EXPECT_EQ(view.find(memory.data()).bytes, 0U);
  shared.add(memory, 7);
  EXPECT_EQ(view.find(memory.data() + 16).bytes, 48U);
  EXPECT_EQ(view.find(memory.data() + 16).lkey, 7U);
  shared.remove(memory, 7);
  EXPECT_EQ(view.find(memory.data() + 16).bytes, 0U);
}

// Lanes look up what lives on while other memory comes and goes.
TEST(SharedRanges, ViewsOfManyThreadsAreNotDisturbedByChanges) {
  std::array<std::byte, 256> memory{};
  SharedRanges shared;
  shared.add(std::span(memory).first(64), 1);
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      RangesView view(shared);
      while (!over) ASSERT_EQ(view.find(&memory[10]).lkey, 1U);
    });
  }
  for (int round = 0; round < 20'000; ++round) {
    shared.add(std::span(memory).last(64), 2);
    shared.remove(std::span(memory).last(64), 2);
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace oriel::verbs
