#pragma once
/// Request: one operation's own completion [MPI_Request of MPI_Rput, MPI_Rget, MPI_Raccumulate].

#include <cstddef>
#include <span>
#include <utility>

#include <oriel/export.hpp>

namespace oriel {

namespace window {
struct RequestState;
}

/// An operation that can be waited for by itself. Move-only; must end before its Runtime does.
///
/// A request *ends* when one of its waits or tests has found it complete, locally or remotely,
/// whichever was asked for; from then on it is empty. An operation whose request has ended locally
/// still counts for the flushes of its window. Destroying a request waits until the origin's memory
/// is free again, and logs what it finds. Freeing a window completes its operations first; their
/// requests stay valid.
///
/// Errors, of all waits and tests: request_ended (it is empty), peer_lost, transport_failed.
/// Threads: any, one at a time per request. Cost: no message, but where the operation was not asked
/// to tell of its completion: one small one.
class ORIEL_API Request {
 public:
  /// An empty request.
  Request() noexcept = default;
  Request(Request&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Request& operator=(Request&& other) noexcept;
  ~Request() { abandon(); }

  /// False once the request has ended.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }

  /// Waits for local completion: the origin's memory may be reused, or holds what was fetched
  /// [MPI_Wait].
  void wait();
  /// Waits for remote completion: the target's memory holds the result, for everybody.
  void wait_remote();
  /// Makes progress, and says whether the request has ended, by local completion [MPI_Test].
  [[nodiscard]] bool test();
  /// The same for remote completion.
  [[nodiscard]] bool test_remote();

  /// [implementation]
  explicit Request(window::RequestState* state) noexcept : state_(state) {}
  [[nodiscard]] window::RequestState* state() const noexcept { return state_; }

 private:
  friend ORIEL_API void wait_all(std::span<Request> requests);
  friend ORIEL_API std::size_t wait_any(std::span<Request> requests);
  void abandon() noexcept;
  void finish();

  window::RequestState* state_ = nullptr;
};

/// Waits until all valid requests are locally complete [MPI_Waitall]. All end, also when one has
/// failed; the first failure is thrown.
ORIEL_API void wait_all(std::span<Request> requests);

/// Waits until one of the valid requests is locally complete, ends it and returns its index
/// [MPI_Waitany]. Errors: request_ended when none is valid.
[[nodiscard]] ORIEL_API std::size_t wait_any(std::span<Request> requests);

}  // namespace oriel
