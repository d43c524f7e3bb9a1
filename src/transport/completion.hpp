#pragma once

#include <cstdint>

#include <oriel/error.hpp>

#include "transport/tally.hpp"

namespace oriel::transport {

/// Counts what somebody waits for: one per (window, target), one per request, or one on the stack
/// of a blocking call. A request's counts also within that of its target, for which flush() waits.
///
/// Who posts an operation with a Completion keeps it alive until both counts are back at zero;
/// every operation gets there, by success or by failure, while Transport::progress() is called. All
/// access is in one thread's turn at a time (see Progress).
struct Completion {
  std::uint32_t local_pending = 0;  ///< operations whose origin memory is still in use
  std::uint32_t remote_pending =
      0;  ///< operations not yet known to be done at the target; >= local_pending
  const Error* failure =
      nullptr;  ///< first failure of an operation counted here; owned by the endpoint
  Completion* within = nullptr;  ///< what else counts the same operations; outlives them
  Tally* tally = nullptr;        ///< what they cost is counted there; null: nowhere

  /// @param copied  the origin's memory is not in use any more
  void started(bool copied = false) noexcept {
    local_pending += copied ? 0 : 1;
    ++remote_pending;
    if (within != nullptr) [[unlikely]]
      within->started(copied);
  }
  void locally_done() noexcept {
    --local_pending;
    if (within != nullptr) [[unlikely]]
      within->locally_done();
  }
  void remotely_done() noexcept {
    --remote_pending;
    if (within != nullptr) [[unlikely]]
      within->remotely_done();
  }
  /// Done at the target, and here if it was not before. @param copied  as for started()
  void finished(bool copied) noexcept {
    local_pending -= copied ? 0 : 1;
    --remote_pending;
    if (within != nullptr) [[unlikely]]
      within->finished(copied);
  }
  void failed(const Error& why) noexcept {
    if (failure == nullptr) failure = &why;
    if (within != nullptr) within->failed(why);
  }
};

}  // namespace oriel::transport
