#include <oriel/shared_bytes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

namespace oriel::detail {
namespace {

TEST(SharedBytes, CopiesAnyLengthAtAnyAlignment) {
  std::array<std::byte, 90> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t bytes = 0; bytes <= 70; ++bytes) {
    for (std::size_t at = 0; at < 8; ++at) {
      alignas(8) std::array<std::byte, 90> shared{};
      std::array<std::byte, 90> back{};
      store_bytes(shared.data() + at, from.data() + 1, bytes);
      load_bytes(back.data() + 3, shared.data() + at, bytes);
      for (std::size_t i = 0; i < back.size(); ++i) {
        const bool copied = i >= 3 && i < 3 + bytes;
        ASSERT_EQ(back[i], copied ? from[i - 2] : std::byte{0}) << bytes << " bytes at " << at;
        ASSERT_EQ(shared[i], i >= at && i < at + bytes ? from[i - at + 1] : std::byte{0});
      }
    }
  }
}

TEST(SharedBytes, RangesMayOverlap) {
  std::array<std::byte, 9> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  store_bytes(bytes.data() + 1, bytes.data(), 8);
  for (std::size_t i = 1; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], static_cast<std::byte>(i - 1));
}

TEST(SharedBytes, RunsOfEveryLengthMayOverlap) {
  for (const std::size_t length : {std::size_t{16}, std::size_t{32}, std::size_t{64}, kManyBytes}) {
    std::vector<std::byte> bytes(length + 1);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    const std::vector<std::byte> before = bytes;
    store_bytes(bytes.data() + 1, bytes.data(), length);
    EXPECT_TRUE(std::equal(bytes.begin() + 1, bytes.end(), before.begin())) << length;
  }
}

TEST(SharedBytes, ManyBytesAreCopiedAtAnyAlignment) {
  constexpr std::size_t kRoom = kManyBytes + 256;
  std::vector<std::byte> from(kRoom);
  for (std::size_t i = 0; i < kRoom; ++i) from[i] = static_cast<std::byte>(i * 13 + i / 251);
  struct Copy {
    std::size_t extra;
    std::size_t at;
  };
  for (const auto [extra, at] :
       {Copy{0, 0}, Copy{1, 1}, Copy{63, 15}, Copy{100, 37}, Copy{0, 16}}) {
    std::vector<std::byte> to(kRoom, std::byte{0xEE});
    const std::size_t bytes = kManyBytes + extra;
    store_bytes(to.data() + at, from.data() + 3, bytes);
    EXPECT_EQ(std::memcmp(to.data() + at, from.data() + 3, bytes), 0) << bytes << " at " << at;
    EXPECT_EQ(std::ranges::count(std::span(to).first(at), std::byte{0xEE}), std::ptrdiff_t(at));
    const auto rest = std::span(to).subspan(at + bytes);
    EXPECT_EQ(std::ranges::count(rest, std::byte{0xEE}), std::ssize(rest));
  }
}

TEST(SharedBytes, ALoadOwesTheBarrierThatAStoreLeft) {
  alignas(8) std::array<std::byte, 8> word{};
  std::array<std::byte, 8> mine{};
  load_bytes(mine.data(), word.data(), 8);
  EXPECT_FALSE(has_stored);
  store_bytes(word.data(), mine.data(), 8);
  EXPECT_TRUE(has_stored);
  std::thread([] { EXPECT_FALSE(has_stored) << "is each thread's own"; }).join();
  complete_stores();
  EXPECT_TRUE(has_stored);
  load_bytes(mine.data(), word.data(), 8);
  EXPECT_FALSE(has_stored);
}

// Under ThreadSanitizer this also says that polling such a word is no data race.
TEST(SharedBytes, AWordAnnouncesWhatWasWrittenBefore) {
  alignas(8) std::array<std::byte, 8> flag{};
  int data = 0;
  std::thread writer([&] {
    data = 42;
    const std::uint64_t set = ~std::uint64_t{0};
    store_bytes(flag.data(), reinterpret_cast<const std::byte*>(&set), sizeof set);
  });
  std::uint64_t seen = 0;
  while (seen == 0) {
    load_bytes(reinterpret_cast<std::byte*>(&seen), flag.data(), sizeof seen);
    std::this_thread::yield();
  }
  EXPECT_EQ(seen, ~std::uint64_t{0}) << "half a word was seen";
  EXPECT_EQ(data, 42);
  writer.join();
}

}  // namespace
}  // namespace oriel::detail
