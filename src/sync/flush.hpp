#pragma once

#include <cstddef>

#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

// Waiting for queue room, and nobody else does. `attempt` is copied when it has to wait: captured
// by value, what it needs stays in registers as long as there is room, which is nearly always.

template <class Attempt>
[[gnu::noinline]] void wait_for_room(transport::Progress& progress, Attempt attempt) {
  progress.wait(attempt);
}

/// Repeats a posting call until there was room for it, making progress in between.
template <class Post>
void post(transport::Progress& progress, Post&& attempt) {
  if (attempt() == transport::PostResult::posted) [[likely]]
    return;
  wait_for_room(progress, [&]() noexcept { return attempt() == transport::PostResult::posted; });
}

/// The same for a call that takes some of `count`: attempt(n), with n taken already, returns how
/// many more it has taken, or 0 when there is no room.
template <class Post>
void post_all(transport::Progress& progress, std::size_t count, Post attempt) {
  std::size_t taken = count == 0 ? 0 : attempt(std::size_t{0});
  if (taken == count) [[likely]]
    return;
  wait_for_room(progress, [count, taken, attempt]() mutable noexcept {
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
inline void flush(transport::Progress& progress, transport::Endpoint& endpoint,
                  transport::Completion& done) {
  post(progress, [&] { return endpoint.seal_and_look(done); });
  if (done.remote_pending != 0 || done.failure != nullptr) wait_remote(progress, done);
}

/// The same for the origin's side only.
inline void flush_local(transport::Progress& progress, transport::Endpoint& endpoint,
                        transport::Completion& done) {
  if (done.local_pending != 0) post(progress, [&] { return endpoint.seal_and_look(done); });
  if (done.local_pending != 0 || done.failure != nullptr) wait_local(progress, done);
}

}  // namespace oriel::sync
