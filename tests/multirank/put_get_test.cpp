// Put and get of every size around the thresholds of the paths, from every kind of origin memory,
// to every rank, this one included.

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kLargest = kKiB * kKiB + 1;
constexpr std::size_t kGuard = 64;  // untouched bytes on either side of what is written
constexpr std::size_t kSlot = kLargest + 2 * kGuard + 8;

constexpr std::array kSizes{std::size_t{0},   std::size_t{1},   std::size_t{7},   std::size_t{8},
                            std::size_t{63},  std::size_t{64},  std::size_t{65},  std::size_t{255},
                            std::size_t{256}, std::size_t{257}, std::size_t{511}, std::size_t{512},
                            std::size_t{513}, 4 * kKiB - 1,     4 * kKiB,         4 * kKiB + 1,
                            32 * kKiB - 1,    32 * kKiB,        32 * kKiB + 1,    64 * kKiB - 1,
                            64 * kKiB,        64 * kKiB + 1,    kLargest};

struct Shift {
  std::size_t origin;
  std::size_t target;
};
constexpr std::array<Shift, 4> kShifts{{{0, 0}, {1, 0}, {0, 3}, {5, 7}}};

/// Memory that operations start from or end in. prepare() makes it hold a pattern; seal() is called
/// when its contents are final.
class Origin {
 public:
  Origin() = default;
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  virtual ~Origin() = default;
  [[nodiscard]] virtual std::span<std::byte> bytes() = 0;
  virtual void open() {}
  virtual void seal() {}
  [[nodiscard]] virtual bool takes_gets() const { return true; }
};

class Ordinary final : public Origin {
 public:
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kLargest + 8);
};

class Registered final : public Origin {
 public:
  std::span<std::byte> bytes() override { return buffer_.span(); }

 private:
  Buffer<std::byte> buffer_{job(), kLargest + 8};
};

class InsideWindow final : public Origin {
 public:
  std::span<std::byte> bytes() override { return window_.local(); }

 private:
  Window<std::byte> window_ = Window<std::byte>::allocate(world(), kLargest + 8);
};

/// Pages that this process itself may not write while they are the origin.
class ReadOnly final : public Origin {
 public:
  ~ReadOnly() override { ::munmap(memory_, kBytes); }
  std::span<std::byte> bytes() override { return {static_cast<std::byte*>(memory_), kLargest + 8}; }
  void open() override { ::mprotect(memory_, kBytes, PROT_READ | PROT_WRITE); }
  void seal() override { ::mprotect(memory_, kBytes, PROT_READ); }
  [[nodiscard]] bool takes_gets() const override { return false; }

 private:
  static constexpr std::size_t kBytes = 2 * kKiB * kKiB;
  void* memory_ =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

class PutGet : public BothKinds {
 protected:
  PutGet() : exposed_(world(), GetParam(), kSlot * static_cast<std::size_t>(ranks())) {}

  /// Every rank has a slot of its own in every rank's part.
  [[nodiscard]] static std::size_t slot(int origin) {
    return kSlot * static_cast<std::size_t>(origin);
  }
  [[nodiscard]] static std::uint64_t seed(int origin, int target, std::uint64_t round) {
    return round * 1000 + static_cast<std::uint64_t>(origin * 32 + target);
  }

  void sweep(Origin& origin) {
    std::uint64_t round = 0;
    for (std::size_t index = 0; index < kSizes.size(); ++index) {
      const int shifts = fabric() == "shm" ? 4 : 1;
      for (int turn = 0; turn < shifts; ++turn) {
        const Shift shift = kShifts[(index + static_cast<std::size_t>(turn)) % kShifts.size()];
        ++round;
        put_to_all(origin, kSizes[index], shift, round);
        check_slots(kSizes[index], shift, round);
        if (origin.takes_gets()) get_from_all(origin, kSizes[index], shift, round);
        mpi_barrier();  // nobody reads this round any more
        erase_slots(kSizes[index], shift);
        mpi_barrier();
      }
    }
  }

 private:
  void put_to_all(Origin& origin, std::size_t size, Shift shift, std::uint64_t round) {
    auto& window = exposed_.window;
    const std::span<std::byte> mine = origin.bytes().subspan(shift.origin, size);
    for (int step = 0; step < ranks(); ++step) {
      const int target = (me() + step) % ranks();
      origin.open();
      fill(mine, seed(me(), target, round));
      origin.seal();
      window.put(mine, Rank(target), slot(me()) + kGuard + shift.target);
      // One origin for all targets: flushed before it is filled anew. Half of the rounds leave the
      // last one to the fence.
      if (step + 1 < ranks()) window.flush(Rank(target));
      if (step + 1 == ranks() && round % 2 == 0) window.flush(Rank(target));
    }
    if (round % 2 == 0) {
      mpi_barrier();  // flush alone must have made the bytes visible
    } else {
      window.fence();
    }
  }

  void check_slots(std::size_t size, Shift shift, std::uint64_t round) {
    const std::span<std::byte> mine = exposed_.window.local();
    for (int origin = 0; origin < ranks(); ++origin) {
      const auto whole = mine.subspan(slot(origin), kSlot);
      const auto bytes = whole.subspan(kGuard + shift.target, size);
      EXPECT_EQ(mismatch(bytes, seed(origin, me(), round)), size)
          << size << " bytes from rank " << origin << ", shift " << shift.origin << "/"
          << shift.target;
      const std::size_t end = kGuard + shift.target + size;
      EXPECT_TRUE(all_zero(whole.first(kGuard + shift.target)) &&
                  all_zero(whole.subspan(end, kGuard)))
          << size << " bytes from rank " << origin << " spilt over";
    }
  }

  void get_from_all(Origin& origin, std::size_t size, Shift shift, std::uint64_t round) {
    auto& window = exposed_.window;
    const std::span<std::byte> mine = origin.bytes().subspan(shift.origin, size);
    for (int target = 0; target < ranks(); ++target) {
      const int writer = (target + 1) % ranks();
      std::ranges::fill(mine, std::byte{0xee});
      window.get(mine, Rank(target), slot(writer) + kGuard + shift.target);
      if (round % 2 == 0) {
        window.flush(Rank(target));
      } else {
        window.flush_local(Rank(target));
      }
      EXPECT_EQ(mismatch(mine, seed(writer, target, round)), size)
          << size << " bytes of rank " << target << ", shift " << shift.origin << "/"
          << shift.target;
      if (size == 0) continue;
      EXPECT_EQ(window.get(Rank(target), slot(writer) + kGuard + shift.target + size - 1),
                pattern(seed(writer, target, round), size - 1));
    }
  }

  /// The guards of a later, smaller round lie where a larger one has written.
  void erase_slots(std::size_t size, Shift shift) {
    for (int origin = 0; origin < ranks(); ++origin) {
      const auto bytes =
          exposed_.window.local().subspan(slot(origin) + kGuard + shift.target, size);
      std::ranges::fill(bytes, std::byte{0});
    }
  }

  Exposed<std::byte> exposed_;
};

TEST_P(PutGet, EverySizeFromOrdinaryMemory) {
  Ordinary origin;
  sweep(origin);
}

TEST_P(PutGet, EverySizeFromABuffer) {
  Registered origin;
  sweep(origin);
}

TEST_P(PutGet, EverySizeFromWindowMemory) {
  InsideWindow origin;
  sweep(origin);
}

TEST_P(PutGet, EverySizeFromReadOnlyPages) {
  ReadOnly origin;
  sweep(origin);
}

// B151: what a device takes inline, it takes at every size it says.
TEST(PutGetSizes, ByteByByte) {
  constexpr std::size_t kMost = 1024;
  constexpr std::size_t kAll = kMost * (kMost + 1) / 2;
  auto window = Window<std::byte>::allocate(world(), kAll);
  std::vector<std::byte> values(kAll);
  fill(values, static_cast<std::uint64_t>(me()));
  const Rank right((me() + 1) % ranks());
  const auto left = static_cast<std::uint64_t>((me() + ranks() - 1) % ranks());
  std::size_t at = 0;
  for (std::size_t size = 1; size <= kMost; at += size++) {
    window.put(std::span(values).subspan(at, size), right, at);
  }
  window.fence();
  EXPECT_EQ(mismatch(window.local(), left), kAll);
  std::ranges::fill(values, std::byte{0});
  for (std::size_t size = kMost; size > 0; --size) {
    at -= size;
    window.get(std::span(values).subspan(at, size), right, at);
  }
  window.flush(right);
  EXPECT_EQ(mismatch(values, static_cast<std::uint64_t>(me())), kAll);
  window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, PutGet, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
