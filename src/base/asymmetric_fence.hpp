#pragma once

#include <atomic>

namespace oriel::base {

/// A pair of fences of which the frequent side costs nothing [P1202; membarrier(2)]: of two threads
/// that each store one thing and then look at the other's, the one by light_fence() in between, the
/// other by heavy_fence(), at least one sees what the other has stored.
///
/// Threads: any. Cost: light a load, or a full barrier where the kernel lacks membarrier; heavy
/// some microseconds.
void heavy_fence() noexcept;

/// Whether the kernel makes the threads of this process pass a barrier when one of them asks.
[[nodiscard]] bool has_membarrier() noexcept;

inline void light_fence(bool with_membarrier) noexcept {
  if (with_membarrier) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

}  // namespace oriel::base
