#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "transport/completion.hpp"
#include "transport/lanes.hpp"
#include "transport/progress.hpp"
#include "window/peer.hpp"

namespace oriel::window {

/// What a window has under way by one way: the common one, or a lane. Members are called in a turn
/// of `turns()`, but for those that say otherwise.
///
/// Invariant: what an operation has posted is covered by every flush that begins after its call. So
/// it counts when the call ends, whether the target was flushed meanwhile or not: a call that waits
/// for queue room lets other threads in, whose flush sees a part of it.
class Traffic {
 public:
  /// @param lane  null: the common way
  /// @param number  of the lane
  Traffic(transport::Progress& turns, transport::ThreadLane* lane, std::size_t number) noexcept
      : turns_(turns), lane_(lane), number_(number) {}

  /// These need no turn.
  [[nodiscard]] transport::Progress& turns() const noexcept { return turns_; }
  [[nodiscard]] transport::ThreadLane* lane() const noexcept { return lane_; }
  [[nodiscard]] Pending& pending(Peer& peer) const noexcept {
    return lane_ == nullptr ? peer.pending : peer.by_lane.load(std::memory_order_acquire)[number_];
  }
  /// What the operations cost.
  [[nodiscard]] transport::Tally& tally() noexcept { return tally_; }
  [[nodiscard]] const transport::Tally& tally() const noexcept { return tally_; }
  /// Whether pending() has anything to refer to.
  [[nodiscard]] bool was_taken_to(const Peer& peer) const noexcept {
    return lane_ == nullptr || peer.by_lane.load(std::memory_order_acquire) != nullptr;
  }
  /// Whether there may be something to flush. What this thread has posted, it sees.
  [[nodiscard]] bool is_touched() const noexcept {
    return any_touched_.load(std::memory_order_relaxed);
  }

  /// Of a target that is new to this way: makes room to list it, so that the end of a call never
  /// allocates. From then on its endpoint is known. Allocates.
  void meet(Pending& pending, transport::Endpoint* endpoint) {
    if (met_ == touched_.capacity()) touched_.reserve(std::max<std::size_t>(2 * met_, 8));
    ++met_;
    pending.endpoint = endpoint;
  }

  /// An operation on a target that flush waits for, from before it starts until its call ends.
  /// Requires: the target was met.
  class [[nodiscard]] Operation {
   public:
    Operation(Traffic& way, Peer& peer) noexcept
        : way_(way), peer_(peer), pending_(way.pending(peer)) {}
    ~Operation() {
      pending_.count();
      if (!pending_.listed) [[unlikely]]
        way_.list(pending_, peer_);
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    [[nodiscard]] transport::Completion& done() const noexcept { return pending_.done; }

   private:
    Traffic& way_;
    Peer& peer_;
    Pending& pending_;
  };

  /// Runs flush(peer) for each target that has something to flush.
  template <class Flush>
  void flush_each(Flush&& flush) {
    while (!touched_.empty()) {
      Peer& peer = *touched_.back();
      flush(peer);  // on failure the target stays touched, and fails again
      if (touched_.empty() || touched_.back() != &peer) continue;  // another thread came in between
      touched_.pop_back();
      Pending& entry = pending(peer);
      entry.listed = false;
      entry.at_once = 0;
    }
    any_touched_.store(false, std::memory_order_relaxed);
  }
  /// The same, but they stay touched.
  template <class Flush>
  void for_each(Flush&& flush) {
    for (std::size_t i = 0; i < touched_.size(); ++i) flush(*touched_[i]);
  }

 private:
  /// Notes that there is something to flush. There is room, as the peer was met.
  [[gnu::noinline]] void list(Pending& entry, Peer& peer) noexcept {
    touched_.push_back(&peer);
    entry.listed = true;
    entry.at_once = peer.target.mapped == nullptr ? peer.target.bytes : 0;
    any_touched_.store(true, std::memory_order_relaxed);
  }

  transport::Progress& turns_;
  transport::ThreadLane* lane_;
  std::size_t number_;
  transport::Tally tally_;
  std::vector<Peer*> touched_;  // has room for all that were ever met
  std::size_t met_ = 0;
  std::atomic<bool> any_touched_{false};
};

}  // namespace oriel::window
