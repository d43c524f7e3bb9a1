#pragma once

#include <atomic>
#include <cstdint>

namespace oriel::base {

/// A mutex that costs one atomic to take and one to give back, in line, while nobody else wants it
/// [Drepper 2011, Futexes are tricky]. For what every operation takes. Not recursive, not fair.
///
/// Invariant: whoever sleeps has set `contended`, and finds it set when woken, so that whoever
/// gives the mutex back wakes one that may sleep.
class QuickMutex {
 public:
  QuickMutex() = default;
  QuickMutex(const QuickMutex&) = delete;
  QuickMutex& operator=(const QuickMutex&) = delete;

  void lock() noexcept {
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) [[unlikely]]
      lock_contended();
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) [[unlikely]]
      wake_one();
  }
  /// Whether anybody has it. For who either has it or knows that nobody takes it at all.
  [[nodiscard]] bool is_taken() const noexcept {
    return state_.load(std::memory_order_relaxed) != kFree;
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kTaken = 1;
  static constexpr std::uint32_t kContended = 2;

  [[gnu::noinline, gnu::cold]] void lock_contended() noexcept {
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
      state_.wait(kContended, std::memory_order_relaxed);
    }
  }

  [[gnu::noinline, gnu::cold]] void wake_one() noexcept { state_.notify_one(); }

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace oriel::base
