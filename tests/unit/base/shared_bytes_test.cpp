#include <oriel/shared_bytes.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace oriel::detail {
namespace {

TEST(SharedBytes, CopiesAnyLengthAtAnyAlignment) {
  std::array<std::byte, 40> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t bytes = 0; bytes <= 17; ++bytes) {
    for (std::size_t at = 0; at < 8; ++at) {
      alignas(8) std::array<std::byte, 40> shared{};
      std::array<std::byte, 40> back{};
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
