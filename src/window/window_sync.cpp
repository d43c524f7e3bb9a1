// Flush, fence and the end of a window.

#include <atomic>

#include <fmt/format.h>

#include "base/log.hpp"
#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

void WindowState::flush_index(std::size_t index) {
  const Target& target = targets_[index];
  if (target.atomics != target.data) {
    sync::post(progress(), [&]() noexcept { return target.atomics->seal(pending_[index]); });
  }
  sync::flush(progress(), *target.data, pending_[index]);
}

void WindowState::flush_local_index(std::size_t index) {
  const Target& target = targets_[index];
  if (target.atomics != target.data && pending_[index].local_pending != 0) {
    sync::post(progress(), [&]() noexcept { return target.atomics->seal(pending_[index]); });
  }
  sync::flush_local(progress(), *target.data, pending_[index]);
}

void WindowState::flush(Rank target) {
  const std::size_t index = checked_index("flush", target);
  if (is_touched_[index])
    return flush_index(index);  // stays touched: a later flush_all finds it complete
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see ShmEndpoint::seal
}

void WindowState::flush_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (!touched_.empty()) {
    const std::size_t index = touched_.back();
    flush_index(index);  // on failure the target stays touched, and fails again
    touched_.pop_back();
    is_touched_[index] = false;
  }
}

void WindowState::flush_local(Rank target) {
  flush_local_index(checked_index("flush_local", target));
}

void WindowState::flush_local_all() {
  for (const std::uint32_t index : touched_) flush_local_index(index);
}

void WindowState::fence() {
  complete_with_all("fence");
}

void WindowState::close() {
  closed_ = true;
  complete_with_all("Window::free");
}

void WindowState::complete_with_all(std::string_view operation) {
  try {
    flush_all();
    barrier_->wait(operation);
  } catch (const Error& error) {
    team_state_->job().broken = true;
    barrier_->give_up(&error);
    throw;
  }
}

std::size_t WindowState::size_bytes(Rank target) const {
  return targets_[checked_index("size", target)].bytes;
}

std::string WindowState::describe() const {
  std::string text = fmt::format("window {}: {}, atomics: {} ({})\n", number_,
                                 allocated_ ? "allocated" : "memory of the program",
                                 to_string(coherence_.domain), coherence_.reason);
  for (std::size_t index = 0; index < targets_.size(); ++index) {
    const Target& target = targets_[index];
    text += fmt::format("  rank {}: {} bytes, {}\n", index, target.bytes,
                        target.mapped != nullptr ? "mapped" : target.data->describe());
  }
  return text;
}

}  // namespace oriel::window
