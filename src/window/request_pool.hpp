#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/progress.hpp"

namespace oriel::window {

class RequestPool;

/// What a Request points to.
struct RequestState {
  transport::Completion done;
  transport::Endpoint* data = nullptr;  ///< the ways its operations have gone
  transport::Endpoint* atomics = nullptr;
  RequestPool* pool = nullptr;
  bool sealed = false;  ///< nothing more needs to be posted for it to complete
};

/// The states of a job's requests: any number, at addresses that stay. Memory grows with the most
/// that were outstanding at a time, in blocks; an operation costs no allocation of its own.
///
/// A request that ended locally leaves behind a state that its transport still counts in: it is
/// kept aside until both counts are zero. Threads: in turn (see Progress).
class RequestPool {
 public:
  explicit RequestPool(transport::Progress& progress) : progress_(progress) {}

  /// @param within  counts for the flushes of the target
  [[nodiscard]] RequestState& acquire(transport::Completion& within, transport::Endpoint& data,
                                      transport::Endpoint& atomics);
  /// The request has ended; `state` may still be counted in.
  void release(RequestState& state);
  [[nodiscard]] transport::Progress& progress() const noexcept { return progress_; }

 private:
  static constexpr std::size_t kBlock = 1024;
  void sweep();
  void grow();

  transport::Progress& progress_;
  std::vector<std::unique_ptr<RequestState[]>> blocks_;
  std::vector<RequestState*> free_;
  std::vector<RequestState*> draining_;  // ended, but not remotely complete
};

}  // namespace oriel::window
