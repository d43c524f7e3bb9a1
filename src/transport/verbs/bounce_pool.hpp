#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "transport/verbs/registered_memory.hpp"

namespace oriel::verbs {

/// Registered memory through which larger transfers from and to ordinary memory travel. One pool
/// for all peers of a process.
///
/// A slot belongs to one work request, from its put() or get() until it is retired by a completion
/// (or its queue pair is destroyed): as long the device may read or write it.
class BouncePool {
 public:
  static constexpr std::size_t kSlots = 64;
  static constexpr std::size_t kSlotBytes = std::size_t{32} << 10U;

  explicit BouncePool(ibv_pd* pd)
      : block_(pd, kSlots * kSlotBytes, Access::local, "verbs set-up, bounce buffers") {
    std::iota(free_.begin(), free_.end(), std::uint16_t{0});
  }

  /// A slot of kSlotBytes, or null when all are in use.
  [[nodiscard]] std::byte* acquire() noexcept {
    if (available_ == 0) return nullptr;
    return block_.data() + free_[--available_] * kSlotBytes;
  }
  void release(const std::byte* slot) noexcept {
    assert(available_ < kSlots);
    const auto offset = static_cast<std::size_t>(slot - block_.data());
    free_[available_++] = static_cast<std::uint16_t>(offset / kSlotBytes);
  }
  [[nodiscard]] std::size_t available() const noexcept { return available_; }
  [[nodiscard]] std::uint32_t lkey() const noexcept { return block_.lkey(); }

 private:
  RegisteredBlock block_;
  std::array<std::uint16_t, kSlots> free_{};  ///< the first available_ are free; last in, first out
  std::size_t available_ = kSlots;
};

}  // namespace oriel::verbs
