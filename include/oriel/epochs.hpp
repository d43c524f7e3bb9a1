#pragma once
/// Guards: lock epochs that end with their scope.

#include <cstdint>
#include <utility>

#include <oriel/export.hpp>
#include <oriel/rank.hpp>
#include <oriel/window_options.hpp>

namespace oriel {

namespace window {
class WindowState;
}

/// Holds a lock of a window until the end of its scope, or until unlock(). Must not outlive the
/// window; the window may be moved meanwhile. Where the lock was given back by Window::unlock(),
/// the guard does nothing more.
class ORIEL_API LockGuard {
 public:
  LockGuard(LockGuard&& other) noexcept
      : window_(std::exchange(other.window_, nullptr)),
        target_(other.target_),
        epoch_(other.epoch_) {}
  LockGuard& operator=(LockGuard&& other) noexcept;
  /// Unlocks; logs errors.
  ~LockGuard() { abandon(); }

  /// Completes this rank's operations on the target and gives the lock back [MPI_Win_unlock].
  /// Errors: peer_lost, transport_failed. Threads: any. Cost: flush(), and one atomic (shared, all)
  /// or two (exclusive).
  void unlock();
  /// Leaves the lock to a later Window::unlock().
  void release() noexcept { window_ = nullptr; }

  /// [implementation] @param target  a rank; -1: the lock of all
  LockGuard(window::WindowState* window, int target, std::uint64_t epoch) noexcept
      : window_(window), target_(target), epoch_(epoch) {}

 private:
  void abandon() noexcept;
  window::WindowState* window_;
  int target_;
  std::uint64_t epoch_;
};

}  // namespace oriel
