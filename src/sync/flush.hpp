#pragma once

#include <cstddef>

#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// Repeats a posting call until there was room for it, making progress in between: the one place
/// that waits for queue room.
template <class Post>
void post(transport::Progress& progress, Post&& attempt) {
  bool posted = attempt() == transport::PostResult::posted;
  if (posted) return;
  progress.wait(
      [&]() noexcept { return posted || (posted = attempt() == transport::PostResult::posted); });
}

/// The same for a call that takes some of `count`: attempt(n), with n taken already, returns how
/// many more it has taken, or 0 when there is no room.
template <class Post>
void post_all(transport::Progress& progress, std::size_t count, Post&& attempt) {
  std::size_t taken = 0;
  progress.wait([&]() noexcept {
    while (taken < count) {
      const std::size_t now = attempt(taken);
      if (now == 0) return false;
      taken += now;
    }
    return true;
  });
}

/// Waits until what `done` counts has left the origin's memory. Errors: those of the operations.
void wait_local(transport::Progress& progress, transport::Completion& done);

/// Waits until what `done` counts is done at the target. Ends whatever happens: a transport
/// finishes every operation, if need be by failing it. Errors: those of the operations.
void wait_remote(transport::Progress& progress, transport::Completion& done);

/// Completes at the target everything posted on `endpoint` so far that `done` counts: bytes are
/// visible there on return.
void flush(transport::Progress& progress, transport::Endpoint& endpoint,
           transport::Completion& done);

/// The same for the origin's side only.
void flush_local(transport::Progress& progress, transport::Endpoint& endpoint,
                 transport::Completion& done);

}  // namespace oriel::sync
