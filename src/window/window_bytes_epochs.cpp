// The public calls that synchronise; see window_bytes.cpp.

#include <oriel/window_bytes.hpp>

#include <atomic>
#include <exception>

#include "base/log.hpp"
#include "window/data_path.hpp"

namespace oriel {

using transport::Progress;
using window::Route;
using window::WindowState;

// ---- flush and fence

[[gnu::hot]] void WindowBytes::wait_for(Rank target) {
  checked("flush").flush(target);
}
void WindowBytes::wait_for_all() {
  checked("flush_all").flush_all();
}
void WindowBytes::wait_locally_for(Rank target) {
  checked("flush_local").flush_local(target);
}
void WindowBytes::flush_local_all() {
  checked("flush_local_all").flush_local_all();
}
void WindowBytes::sync() {
  static_cast<void>(checked("sync"));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void WindowBytes::fence(FenceAssertion assertions) {
  WindowState& window = checked("fence");
  const Progress::Turn turn(window.progress());
  window.fence(assertions);
}

// ---- locks

constexpr int kAllParts = window::QuickLocks::kAllParts;

LockGuard WindowBytes::lock(Rank target, LockMode mode, bool no_check) {
  WindowState& window = checked("lock");
  if (!no_check && target >= 0) {  // a rank, then, and not kAllParts
    if (const auto epoch = window.lock_quickly(target, mode)) return {&window, target, epoch};
  }
  const Progress::Turn turn(window.progress());
  return {&window, target, window.lock(target, mode, no_check)};
}
LockGuard WindowBytes::lock_all(bool no_check) {
  WindowState& window = checked("lock_all");
  if (!no_check) {
    const auto epoch = window.lock_quickly(kAllParts, LockMode::shared);
    if (epoch != 0) return {&window, kAllParts, epoch};
  }
  const Progress::Turn turn(window.progress());
  return {&window, kAllParts, window.lock_all(no_check)};
}
void WindowBytes::unlock(Rank target) {
  WindowState& window = checked("unlock");
  if (target >= 0 && window.unlock_quickly(target, 0)) return;
  const Progress::Turn turn(window.progress());
  window.unlock(target);
}
void WindowBytes::unlock_all() {
  WindowState& window = checked("unlock_all");
  if (window.unlock_quickly(kAllParts, 0)) return;
  const Progress::Turn turn(window.progress());
  window.unlock_all();
}

LockGuard& LockGuard::operator=(LockGuard&& other) noexcept {
  if (this != &other) {
    abandon();
    window_ = std::exchange(other.window_, nullptr);
    target_ = other.target_;
    epoch_ = other.epoch_;
  }
  return *this;
}

void LockGuard::unlock() {
  WindowState* const window = std::exchange(window_, nullptr);
  if (window == nullptr || window->unlock_quickly(target_, epoch_)) return;
  const Progress::Turn turn(window->progress());
  window->unlock(target_, epoch_);
}

void LockGuard::abandon() noexcept {
  try {
    unlock();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "giving back a lock: {}", error.what());
  }
}

// ---- post, start, complete, wait

void WindowBytes::post(std::span<const Rank> origins) {
  WindowState& window = checked("post");
  const Progress::Turn turn(window.progress());
  window.post(origins);
}
void WindowBytes::start(std::span<const Rank> targets) {
  WindowState& window = checked("start");
  const Progress::Turn turn(window.progress());
  window.start(targets);
}
void WindowBytes::complete() {
  WindowState& window = checked("complete");
  const Progress::Turn turn(window.progress());
  window.complete();
}
void WindowBytes::wait() {
  WindowState& window = checked("wait");
  const Progress::Turn turn(window.progress());
  window.wait();
}
bool WindowBytes::test() {
  WindowState& window = checked("test");
  const Progress::Turn turn(window.progress());
  return window.test();
}

// ---- notified access

void WindowBytes::put_notify(const void* source, std::size_t bytes, const TargetBytes& target,
                             std::size_t slot) {
  WindowState& window = checked(target.operation);
  window.notified(target, slot, [&](const Route& route) {
    window.put(static_cast<const std::byte*>(source), bytes, target, route);
  });
}
void WindowBytes::get_notify(void* destination, std::size_t bytes, const TargetBytes& target,
                             std::size_t slot) {
  WindowState& window = checked(target.operation);
  window.notified(target, slot, [&](const Route& route) {
    window.get(static_cast<std::byte*>(destination), bytes, target, route);
  });
}
void WindowBytes::accumulate_notify(const Accumulation& what, const TargetBytes& target,
                                    std::size_t slot) {
  WindowState& window = checked(target.operation);
  window.notified(target, slot,
                  [&](const Route& route) { window.accumulate(what, target, route); });
}

void WindowBytes::wait_notify(std::size_t slot, std::uint64_t count) {
  WindowState& window = checked("wait_notify");
  const Progress::Turn turn(window.progress());
  window.notifications().wait(slot, count);
}
bool WindowBytes::test_notify(std::size_t slot, std::uint64_t count) {
  WindowState& window = checked("test_notify");
  const Progress::Turn turn(window.progress());
  return window.notifications().test(slot, count);
}
std::size_t WindowBytes::wait_notify_any(std::size_t first, std::size_t slots) {
  WindowState& window = checked("wait_notify_any");
  const Progress::Turn turn(window.progress());
  return window.notifications().wait_any(first, slots);
}
std::optional<std::size_t> WindowBytes::test_notify_any(std::size_t first, std::size_t slots) {
  WindowState& window = checked("test_notify_any");
  const Progress::Turn turn(window.progress());
  return window.notifications().test_any(first, slots);
}
void WindowBytes::wait_notify_all(std::size_t first, std::size_t slots, std::uint64_t count) {
  WindowState& window = checked("wait_notify_all");
  const Progress::Turn turn(window.progress());
  window.notifications().wait_all(first, slots, count);
}
std::uint64_t WindowBytes::pending_notifications(std::size_t slot) const {
  WindowState& window = checked("pending_notifications");
  const Progress::Turn turn(window.progress());
  return window.notifications().pending(slot);
}
std::uint64_t WindowBytes::reset_notify(std::size_t slot) {
  WindowState& window = checked("reset_notify");
  const Progress::Turn turn(window.progress());
  return window.notifications().reset(slot);
}

}  // namespace oriel
