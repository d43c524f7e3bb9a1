#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace oriel::verbs {

/// The memory of this process that the device may read and write: what lies here is the origin of
/// an operation without a copy.
///
/// Holds what is registered now, nothing more: an entry is made by expose() and goes with its
/// memory handle, so there is no cache that could outlive a mapping. Ranges may overlap (two
/// windows over one buffer). Threads: one-at-a-time.
class RegisteredRanges {
 public:
  struct Found {
    std::size_t bytes = 0;  ///< registered from the looked-up address on; 0: not registered
    std::uint32_t lkey = 0;
  };

  void add(std::span<const std::byte> memory, std::uint32_t lkey);
  void remove(std::span<const std::byte> memory, std::uint32_t lkey) noexcept;

  /// A range that contains `address`. O(log n) for ranges that do not overlap, O(1) when the last
  /// one hits again.
  [[nodiscard]] Found find(const std::byte* address) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return ranges_.size(); }

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uintptr_t reach =
        0;  ///< largest end of this and all earlier ranges: where to stop looking
    std::uint32_t lkey = 0;
    [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
      return begin <= address && address < end;
    }
  };

  void update_reach() noexcept;

  std::vector<Range> ranges_;  ///< by begin
  mutable std::size_t last_hit_ = 0;
};

/// The ranges of a process, which its lanes read at any time. Threads: any.
class SharedRanges {
 public:
  void add(std::span<const std::byte> memory, std::uint32_t lkey);
  void remove(std::span<const std::byte> memory, std::uint32_t lkey) noexcept;

 private:
  friend class RangesView;

  mutable std::mutex mutex_;
  RegisteredRanges ranges_;                // guarded by mutex_
  std::atomic<std::uint64_t> edition_{1};  // grows with every change, under mutex_
};

/// A lane's copy of them, taken again when they have changed: looking one up takes no lock, and is
/// never disturbed by another lane's. Threads: one-at-a-time.
class RangesView {
 public:
  explicit RangesView(const SharedRanges& ranges) noexcept : shared_(ranges) {}

  /// As RegisteredRanges::find(). Without memory for a copy, nothing is found: transfers then go
  /// by bounce slots.
  [[nodiscard]] RegisteredRanges::Found find(const std::byte* address) noexcept {
    if (shared_.edition_.load(std::memory_order_acquire) != edition_) refresh();
    return copy_.find(address);
  }

 private:
  void refresh() noexcept;

  const SharedRanges& shared_;
  RegisteredRanges copy_;
  std::uint64_t edition_ = 0;
};

}  // namespace oriel::verbs
