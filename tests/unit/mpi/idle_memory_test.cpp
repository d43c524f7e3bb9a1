// What MPI_Free_mem keeps for the next MPI_Alloc_mem.

#include "mpi/idle_memory.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace {

using Memory = std::shared_ptr<int>;  // alive while somebody keeps it
using oriel::mpi::IdleMemory;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST(IdleMemory, GivesTheSmallestThatIsLargeEnough) {
  IdleMemory<Memory> idle(100 * kMiB);
  const Memory small = std::make_shared<int>(1);
  const Memory large = std::make_shared<int>(2);
  idle.keep(30 * kMiB, large);
  idle.keep(20 * kMiB, small);
  EXPECT_EQ(idle.take(15 * kMiB), small);
  EXPECT_EQ(idle.take(15 * kMiB), large);
  EXPECT_EQ(idle.take(15 * kMiB), nullptr);
  EXPECT_EQ(idle.size(), 0U);
}

TEST(IdleMemory, WastesNoLargeOneOnFewBytes) {
  IdleMemory<Memory> idle(100 * kMiB);
  idle.keep(40 * kMiB, std::make_shared<int>());
  EXPECT_EQ(idle.take(9 * kMiB), nullptr);
  EXPECT_EQ(idle.take(41 * kMiB), nullptr);
  EXPECT_NE(idle.take(10 * kMiB), nullptr);
}

TEST(IdleMemory, SmallOnesServeAnySmallRequest) {
  IdleMemory<Memory> idle(kMiB);
  idle.keep(idle.room_for(1), std::make_shared<int>());
  EXPECT_NE(idle.take(4096), nullptr);
  EXPECT_EQ(idle.room_for(5000), 8192U);
  EXPECT_EQ(idle.room_for(kMiB + 1), kMiB + 1);
}

TEST(IdleMemory, TheLargestMakeRoom) {
  IdleMemory<Memory> idle(10 * kMiB);
  std::weak_ptr<int> large;
  {
    const Memory memory = std::make_shared<int>();
    large = memory;
    idle.keep(6 * kMiB, memory);
  }
  const Memory middle = std::make_shared<int>();
  const Memory small = std::make_shared<int>();
  idle.keep(4 * kMiB, middle);
  EXPECT_FALSE(large.expired());
  idle.keep(2 * kMiB, small);  // 12 MiB are too many
  EXPECT_TRUE(large.expired());
  EXPECT_EQ(idle.take(2 * kMiB), small);
  EXPECT_EQ(idle.take(2 * kMiB), middle);
}

TEST(IdleMemory, KeepsTheLastOfEqualSize) {  // a program's 40 MiB, again and again
  IdleMemory<Memory> idle(128 * kMiB);
  for (int round = 0; round < 10; ++round) {
    idle.keep(40 * kMiB, std::make_shared<int>(round));
    EXPECT_EQ(idle.size(), std::size_t{1});
    EXPECT_EQ(*idle.take(40 * kMiB), round);
  }
}

TEST(IdleMemory, EndsAtOnceWhatExceedsAll) {
  IdleMemory<Memory> idle(10 * kMiB);
  const Memory kept = std::make_shared<int>();
  const Memory exceeding = std::make_shared<int>();
  idle.keep(kMiB, kept);
  idle.keep(11 * kMiB, exceeding);
  EXPECT_EQ(exceeding.use_count(), 1);
  EXPECT_EQ(idle.size(), 1U);
  idle.clear();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(idle.take(1), nullptr);
}

}  // namespace
