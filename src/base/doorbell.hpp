#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace oriel::base {

/// A word in shared memory that a thread can sleep on until somebody who changed memory rings.
///
/// Invariant (no lost wake-up): the sleeper announces itself in `sleepers` and then looks at its
/// condition once more; the ringer changes memory and then reads `sleepers` by a read-modify-write.
/// The two read-modify-writes of one word are ordered: either the ringer sees the sleeper and wakes
/// it (the sleeper's futex compares `rings`, read before the last look), or the sleeper comes
/// second, synchronises with the ringer and sees the change.
class alignas(64) Doorbell {
 public:
  /// After a change of memory that a sleeper may wait for. One atomic; a system call only when
  /// somebody sleeps.
  void ring() noexcept {
    if (sleepers_.fetch_add(0, std::memory_order_acq_rel) != 0) wake();
  }

  /// Sleeps until a ring, at most `limit`, unless `done()` holds already. May wake for nothing.
  template <class Done>
  void sleep(Done&& done, std::chrono::microseconds limit) noexcept {
    const std::uint32_t seen = rings_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1, std::memory_order_acq_rel);
    if (!done()) wait(seen, limit);
    sleepers_.fetch_sub(1, std::memory_order_acq_rel);
  }

 private:
  void wake() noexcept;
  void wait(std::uint32_t seen, std::chrono::microseconds limit) noexcept;

  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace oriel::base
