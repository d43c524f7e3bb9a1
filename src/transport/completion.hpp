#pragma once

#include <cstdint>

#include <oriel/error.hpp>

namespace oriel::transport {

/// Counts what somebody waits for: one per (window, target), or one on the stack of a blocking
/// call.
///
/// Who posts an operation with a Completion keeps it alive until both counts are back at zero;
/// every operation gets there, by success or by failure, while Transport::progress() is called. All
/// access is by the thread that posts and progresses.
struct Completion {
  std::uint32_t local_pending = 0;  ///< operations whose origin memory is still in use
  std::uint32_t remote_pending =
      0;  ///< operations not yet known to be done at the target; >= local_pending
  const Error* failure =
      nullptr;  ///< first failure of an operation counted here; owned by the endpoint

  void started() noexcept { ++local_pending, ++remote_pending; }
  void locally_done() noexcept { --local_pending; }
  void remotely_done() noexcept { --remote_pending; }
  void failed(const Error& why) noexcept {
    if (failure == nullptr) failure = &why;
  }
};

}  // namespace oriel::transport
