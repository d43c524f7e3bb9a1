// Whose memory is it, and until when: origins that are reused, remapped, reallocated or exposed
// themselves between operations.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

constexpr std::array<std::size_t, 7> kSizes{1, 64, 300, 4096, 40'000, 70'001, 1'500'000};
constexpr std::size_t kLargest = 1'500'000;

class OriginMemory : public BothKinds {
 protected:
  OriginMemory() : exposed_(world(), GetParam(), kLargest) {}

  [[nodiscard]] static Rank right() { return Rank((me() + 1) % ranks()); }
  [[nodiscard]] static std::uint64_t left() {
    return static_cast<std::uint64_t>((me() + ranks() - 1) % ranks());
  }
  [[nodiscard]] static std::uint64_t seed(std::uint64_t writer, std::uint64_t round) {
    return round * 100 + writer;
  }
  [[nodiscard]] static std::uint64_t my_seed(std::uint64_t round) {
    return seed(static_cast<std::uint64_t>(me()), round);
  }
  /// What the left neighbour put has arrived; then both go on.
  void expect_arrived(std::size_t size, std::uint64_t round) {
    EXPECT_EQ(mismatch(exposed_.window.local().first(size), seed(left(), round)), size)
        << "round " << round;
    exposed_.window.fence();
  }

  Exposed<std::byte> exposed_;
};

TEST_P(OriginMemory, IsFreeAfterFlushLocal) {
  std::vector<std::byte> ordinary(kLargest);
  Buffer<std::byte> buffer(job(), kLargest);
  std::uint64_t round = 0;
  for (const std::span<std::byte> origin : {std::span(ordinary), buffer.span()}) {
    for (const std::size_t size : kSizes) {
      fill(origin.first(size), my_seed(++round));
      exposed_.window.put(origin.first(size), right(), 0);
      if (round % 2 == 0) {
        exposed_.window.flush_local(right());
      } else {
        exposed_.window.flush_local_all();
      }
      std::ranges::fill(origin.first(size), std::byte{0xdd});
      exposed_.window.fence();
      expect_arrived(size, round);
    }
  }
}

TEST_P(OriginMemory, ValueFormCopiesItsArgument) {
  Exposed<std::uint64_t> words(world(), GetParam(), 200);
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < 200; ++index) {
    value = index * 3 + static_cast<unsigned>(me());
    words.window.put(value, right(), index);
    value = 0xdead;
  }
  words.window.fence();
  for (std::size_t index = 0; index < 200; ++index) {
    EXPECT_EQ(words.window.local()[index], index * 3 + left());
  }
}

// B137: what was registered or remembered for the old pages must not be used for the new ones.
TEST_P(OriginMemory, NewPagesAtAnOldAddressAreReadAnew) {
  constexpr std::size_t kBytes = 256 * 1024;
  constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  // The address stays ours in between, so that no other thread's mapping can get there.
  void* const place = ::mmap(nullptr, kBytes, PROT_NONE, kAnonymous | MAP_NORESERVE, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  for (std::uint64_t round = 1; round <= 10; ++round) {
    void* const pages =
        ::mmap(place, kBytes, PROT_READ | PROT_WRITE, kAnonymous | MAP_FIXED, -1, 0);
    ASSERT_EQ(pages, place);
    const std::span<std::byte> origin(static_cast<std::byte*>(pages), kBytes);
    fill(origin, my_seed(round));
    exposed_.window.put(origin, right(), 0);
    exposed_.window.flush_local(right());
    ASSERT_EQ(::mmap(place, kBytes, PROT_NONE, kAnonymous | MAP_NORESERVE | MAP_FIXED, -1, 0),
              place);
    exposed_.window.fence();
    expect_arrived(kBytes, round);
  }
  ::munmap(place, kBytes);
}

TEST_P(OriginMemory, NewPagesAtAnOldAddressReceiveGets) {
  constexpr std::size_t kBytes = 128 * 1024;
  fill(exposed_.window.local().first(kBytes), my_seed(0));
  exposed_.window.fence();
  for (int round = 0; round < 10; ++round) {
    void* const pages =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const std::span<std::byte> destination(static_cast<std::byte*>(pages), kBytes);
    exposed_.window.get(destination, right(), 0);
    exposed_.window.flush_local(right());
    EXPECT_EQ(mismatch(destination, seed(static_cast<std::uint64_t>(int{right()}), 0)), kBytes);
    ::munmap(pages, kBytes);
  }
  exposed_.window.fence();
}

// B140: a heap that shrinks and grows, and an MPI with caches of its own in the same buffers.
TEST_P(OriginMemory, HeapBlocksOfChangingSizeBesideMpiMessages) {
  std::byte* block = nullptr;
  for (std::uint64_t round = 1; round <= 21; ++round) {
    const std::size_t size = kSizes[(round * 5) % kSizes.size()];
    block = static_cast<std::byte*>(std::realloc(block, size));
    const std::span<std::byte> origin(block, size);
    fill(origin, my_seed(round + 500));
    std::vector<std::byte> received(size);
    MPI_Sendrecv(block, static_cast<int>(size), MPI_BYTE, right(), 1, received.data(),
                 static_cast<int>(size), MPI_BYTE, static_cast<int>(left()), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT_EQ(mismatch(received, seed(left(), round + 500)), size);
    fill(origin, my_seed(round));
    exposed_.window.put(origin, right(), 0);
    exposed_.window.flush_local(right());
    if (round % 3 == 0) {
      std::free(block);
      block = nullptr;
    }
    exposed_.window.fence();
    expect_arrived(size, round);
  }
  std::free(block);
}

// B142: the pages of a parent stay the device's own when a child is made.
TEST_P(OriginMemory, SurvivesAForkInBetween) {
  Buffer<std::byte> buffer(job(), 100'000);
  std::vector<std::byte> ordinary(100'000);
  std::uint64_t round = 0;
  for (const std::span<std::byte> origin : {buffer.span(), std::span(ordinary)}) {
    for (int turn = 0; turn < 3; ++turn) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::usleep(20'000);  // lives while the parent writes to pages that both have
        ::_exit(0);
      }
      EXPECT_GT(child, 0);
      fill(origin, my_seed(++round));
      exposed_.window.local()[kLargest - 1] = std::byte{1};
      exposed_.window.put(origin, right(), 0);
      exposed_.window.fence();
      int status = -1;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
      expect_arrived(origin.size(), round);
    }
  }
}

// B025: what was an origin becomes a window; atomics must be allowed there, too.
TEST_P(OriginMemory, CanBecomeAWindowLater) {
  std::vector<std::uint64_t> memory(20'000, 5);
  exposed_.window.put(std::as_writable_bytes(std::span(memory)), right(), 0);
  exposed_.window.fence();
  for (int life = 0; life < 3; ++life) {
    auto window = Window<std::uint64_t>::create(world(), memory);
    window.fetch_add(1, right(), 0);
    window.fetch_add(2, right(), memory.size() - 1);
    window.fence();
    window.free();
  }
  EXPECT_EQ(memory.front(), 8U);
  EXPECT_EQ(memory.back(), 11U);
}

TEST_P(OriginMemory, OverlappingWindowsShowEachOthersBytes) {
  std::vector<std::byte> memory(3000);
  auto low = Window<std::byte>::create(world(), std::span(memory).first(2000));
  auto high = Window<std::byte>::create(world(), std::span(memory).last(2000));
  auto same = Window<std::byte>::create(world(), std::span(memory).first(2000));
  std::vector<std::byte> origin(1000);
  fill(origin, my_seed(1));
  low.put(origin, right(), 1000);
  low.flush(right());
  std::vector<std::byte> seen(1000);
  high.get(seen, right(), 0);
  high.flush_local(right());
  EXPECT_EQ(mismatch(seen, my_seed(1)), seen.size());
  same.get(seen, right(), 1000);
  same.flush_local(right());
  EXPECT_EQ(mismatch(seen, my_seed(1)), seen.size());
  world().barrier();
  same.free();  // the others stay usable
  fill(origin, my_seed(2));
  high.put(origin, right(), 1000);
  high.fence();
  low.fence();
  EXPECT_EQ(mismatch(std::span(memory).subspan(2000), seed(left(), 2)), 1000U);
  EXPECT_EQ(mismatch(std::span(memory).subspan(1000, 1000), seed(left(), 1)), 1000U);
}

TEST_P(OriginMemory, MayLieInTheSameWindowAsTheTarget) {
  if (ranks() == 1) GTEST_SKIP() << "needs a neighbour";
  const std::span<std::byte> mine = exposed_.window.local();
  fill(mine.first(100'000), my_seed(1));
  exposed_.window.fence();
  exposed_.window.put(mine.first(100'000), right(), 200'000);
  exposed_.window.fence();
  EXPECT_EQ(mismatch(mine.subspan(200'000, 100'000), seed(left(), 1)), 100'000U);
  exposed_.window.get(mine.subspan(400'000, 100'000), right(), 0);
  exposed_.window.flush_local_all();
  EXPECT_EQ(
      mismatch(mine.subspan(400'000, 100'000), seed(static_cast<std::uint64_t>(int{right()}), 1)),
      100'000U);
  exposed_.window.fence();
}

TEST(Buffer, IsZeroedAndMayBeEmpty) {
  Buffer<std::uint64_t> empty(job(), 0);
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_TRUE(empty.span().empty());
  Buffer<std::uint64_t> buffer(job(), 10'001);
  EXPECT_EQ(buffer.span().size(), 10'001U);
  EXPECT_TRUE(all_zero(std::as_bytes(buffer.span())));
  Buffer<std::uint64_t> moved = std::move(buffer);
  moved[10'000] = 3;
  EXPECT_EQ(moved.span().back(), 3U);
  EXPECT_EQ(thrown_code([] { Buffer<std::uint64_t> huge(job(), SIZE_MAX / 4); }),
            ErrorCode::out_of_range);
}

INSTANTIATE_TEST_SUITE_P(Both, OriginMemory, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
