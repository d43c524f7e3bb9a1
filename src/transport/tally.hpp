#pragma once

#include <atomic>
#include <cstdint>

namespace oriel::transport {

/// What operations cost on their way to other machines, for whoever they belong to. Counted in one
/// thread's turn, read by any.
struct Tally {
  class Count {
   public:
    void add(std::uint64_t more) noexcept {  // turns do not overlap: no atomic addition is needed
      value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t value() const noexcept {
      return value_.load(std::memory_order_relaxed);
    }

   private:
    std::atomic<std::uint64_t> value_{0};
  };

  Count lone_requests;  ///< work requests with a doorbell of their own; the next two leave them out
  Count work_requests;
  Count doorbells;
  Count completions;
  Count inline_bytes;
  Count bounce_bytes;
  Count retries;
};

}  // namespace oriel::transport
