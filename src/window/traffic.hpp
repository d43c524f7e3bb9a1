#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/completion.hpp"
#include "transport/lanes.hpp"
#include "transport/progress.hpp"

namespace oriel::window {

/// What a window has under way by one way: the common one, or a lane. Members are called in a turn
/// of `turns()`, but for those that say otherwise.
class Traffic {
 public:
  /// @param lane  null: the common way
  Traffic(transport::Progress& turns, transport::ThreadLane* lane) noexcept
      : turns_(turns), lane_(lane) {}

  /// These need no turn.
  [[nodiscard]] transport::Progress& turns() const noexcept { return turns_; }
  [[nodiscard]] transport::ThreadLane* lane() const noexcept { return lane_; }
  /// Whether there may be something to flush. What this thread has posted, it sees.
  [[nodiscard]] bool is_touched() const noexcept {
    return any_touched_.load(std::memory_order_relaxed);
  }

  /// The count of operations on a target that flush waits for; notes that there is something to
  /// flush. Allocates when the first one goes this way. @param targets  of the window
  [[nodiscard]] transport::Completion& pending(std::size_t index, std::size_t targets) {
    if (pending_.empty()) make_room(targets);
    if (!is_target_touched_[index]) {
      is_target_touched_[index] = true;
      touched_.push_back(static_cast<std::uint32_t>(index));  // has room for all targets
      any_touched_.store(true, std::memory_order_relaxed);
    }
    return pending_[index];
  }
  /// Requires: touched, once.
  [[nodiscard]] transport::Completion& pending(std::size_t index) noexcept {
    return pending_[index];
  }
  [[nodiscard]] bool is_touched(std::size_t index) const noexcept {
    return !pending_.empty() && is_target_touched_[index];
  }

  /// Runs flush(index) for each target that has something to flush.
  template <class Flush>
  void flush_each(Flush&& flush) {
    while (!touched_.empty()) {
      const std::size_t index = touched_.back();
      flush(index);  // on failure the target stays touched, and fails again
      if (touched_.empty() || touched_.back() != index) continue;  // another thread came in between
      touched_.pop_back();
      is_target_touched_[index] = false;
    }
    any_touched_.store(false, std::memory_order_relaxed);
  }
  /// The same, but they stay touched.
  template <class Flush>
  void for_each(Flush&& flush) {
    for (std::size_t i = 0; i < touched_.size(); ++i) flush(touched_[i]);
  }

  [[nodiscard]] bool is_idle() const noexcept {
    return std::ranges::all_of(pending_, [](const auto& one) { return one.remote_pending == 0; });
  }

 private:
  void make_room(std::size_t targets) {
    is_target_touched_.resize(targets);
    touched_.reserve(targets);
    pending_.resize(targets);
  }

  transport::Progress& turns_;
  transport::ThreadLane* lane_;
  std::vector<transport::Completion> pending_;  // by team rank, as all of these
  std::vector<bool> is_target_touched_;
  std::vector<std::uint32_t> touched_;
  std::atomic<bool> any_touched_{false};
};

}  // namespace oriel::window
