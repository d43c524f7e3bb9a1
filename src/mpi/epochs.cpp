#include "mpi/epochs.hpp"

#include <mpi.h>

#include <string>

#include <fmt/format.h>

#include "mpi/call.hpp"

namespace oriel::mpi {
namespace {

[[noreturn]] void refuse(std::string text) {
  fail(MPI_ERR_RMA_SYNC, std::move(text));
}

}  // namespace

Epochs::Epochs(std::size_t ranks) : open_(ranks) {}

void Epochs::check_closed(int target) {
  const std::lock_guard hold(mutex_);
  switch (access_.load(std::memory_order_relaxed)) {
    case Access::none:
      refuse("no access epoch is open");
    case Access::may_fence:
      if (exposed_) refuse("the epoch of a fence cannot begin between post and wait");
      access_.store(Access::fence, std::memory_order_relaxed);
      return;
    case Access::start:
      if (is_open(target)) return;
      refuse(fmt::format("rank {} is not in the group that was given to MPI_Win_start", target));
    case Access::lock:
      if (is_open(target)) return;
      refuse(fmt::format("rank {} is not locked", target));
    case Access::fence:
    case Access::lock_all:
      return;  // another thread opened it
  }
}

void Epochs::refuse_passive(int target) const {
  switch (access_.load(std::memory_order_relaxed)) {
    case Access::fence:
    case Access::start:
      refuse("the open epoch is one of active target synchronization; this call needs a lock");
    case Access::lock:
    case Access::lock_all:
      refuse(fmt::format("rank {} is not locked", target));
    case Access::none:
    case Access::may_fence:
      break;
  }
  refuse("nothing is locked");
}

void Epochs::fence(bool no_succeed) {
  const std::lock_guard hold(mutex_);
  switch (access_.load(std::memory_order_relaxed)) {
    case Access::start:
      refuse("the epoch of MPI_Win_start is open; MPI_Win_complete comes first");
    case Access::lock:
      refuse("a rank is locked; MPI_Win_unlock comes first");
    case Access::lock_all:
      refuse("all ranks are locked; MPI_Win_unlock_all comes first");
    case Access::none:
    case Access::may_fence:
    case Access::fence:
      break;
  }
  if (exposed_) refuse("the epoch of MPI_Win_post is open; MPI_Win_wait comes first");
  after_fence_ = !no_succeed;
  access_.store(closed(), std::memory_order_relaxed);
}

/// Access epochs begin where none is open.
void Epochs::check_may_open(std::string_view kind) const {
  switch (access_.load(std::memory_order_relaxed)) {
    case Access::none:
    case Access::may_fence:
      return;
    case Access::fence:
      refuse(
          fmt::format("there were operations since the last fence, whose epoch a fence ends "
                      "(MPI_MODE_NOSUCCEED: without another one); no {} before it",
                      kind));
    case Access::start:
      refuse(fmt::format("the epoch of MPI_Win_start is open; no {} in it", kind));
    case Access::lock:
      refuse(fmt::format("a rank is locked; no {} until MPI_Win_unlock", kind));
    case Access::lock_all:
      refuse(fmt::format("all ranks are locked; no {} until MPI_Win_unlock_all", kind));
  }
}

Epochs::Access Epochs::closed() const noexcept {
  return after_fence_ ? Access::may_fence : Access::none;
}

void Epochs::start(std::span<const int> targets) {
  const std::lock_guard hold(mutex_);
  check_may_open("start");
  started_.assign(targets.begin(), targets.end());
  for (const int target : started_) set_open(target, true);
  access_.store(Access::start, std::memory_order_relaxed);
}

void Epochs::complete() {
  const std::lock_guard hold(mutex_);
  if (access_.load(std::memory_order_relaxed) != Access::start)
    refuse("no epoch of MPI_Win_start is open");
  for (const int target : started_) set_open(target, false);
  started_.clear();
  access_.store(closed(), std::memory_order_relaxed);
}

void Epochs::post() {
  const std::lock_guard hold(mutex_);
  if (exposed_) refuse("the epoch of an earlier MPI_Win_post is open; MPI_Win_wait comes first");
  if (access_.load(std::memory_order_relaxed) == Access::fence) check_may_open("post");
  exposed_ = true;
}

void Epochs::check_exposed() const {
  const std::lock_guard hold(mutex_);
  if (!exposed_) refuse("no epoch of MPI_Win_post is open");
}

void Epochs::wait() {
  const std::lock_guard hold(mutex_);
  if (!exposed_) refuse("no epoch of MPI_Win_post is open");
  exposed_ = false;
}

void Epochs::lock(int target) {
  const std::lock_guard hold(mutex_);
  const auto access = access_.load(std::memory_order_relaxed);
  if (access != Access::lock) check_may_open("lock");
  if (is_open(target)) refuse(fmt::format("this process has locked rank {} already", target));
  set_open(target, true);
  ++locks_;
  access_.store(Access::lock, std::memory_order_relaxed);
}

void Epochs::unlock(int target) {
  const std::lock_guard hold(mutex_);
  if (access_.load(std::memory_order_relaxed) != Access::lock || !is_open(target))
    refuse(fmt::format("rank {} is not locked by MPI_Win_lock", target));
  set_open(target, false);
  if (--locks_ == 0) access_.store(closed(), std::memory_order_relaxed);
}

void Epochs::lock_all() {
  const std::lock_guard hold(mutex_);
  check_may_open("lock of all");
  access_.store(Access::lock_all, std::memory_order_relaxed);
}

void Epochs::unlock_all() {
  const std::lock_guard hold(mutex_);
  if (access_.load(std::memory_order_relaxed) != Access::lock_all)
    refuse("the ranks are not locked by MPI_Win_lock_all");
  access_.store(closed(), std::memory_order_relaxed);
}

void Epochs::check_none() const {
  const std::lock_guard hold(mutex_);
  const auto access = access_.load(std::memory_order_relaxed);
  if (access != Access::fence) check_may_open("end of the window");
  if (exposed_) refuse("the epoch of MPI_Win_post is open; MPI_Win_wait comes first");
}

}  // namespace oriel::mpi
