// Who counts an operation, flush, fence and the end of a window.

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

using transport::Completion;

/// Lanes are for what goes by the device, to memory that stays where it is: see attach().
Traffic& WindowState::lane_to(std::size_t index) {
  if (&memory_.path_to(team_state_->members()[index]) != team_state_->job().verbs) return common_;
  const Peer* const known = peers_.find(index);
  if (known == nullptr || known->by_lane.load(std::memory_order_acquire) == nullptr) {
    const transport::Progress::Turn turn(progress());
    Peer& met = peer(index);
    if (met.by_lane.load(std::memory_order_relaxed) == nullptr) {
      auto* const by_lane = new Pending[by_lanes_.size()];
      for (std::size_t i = 0; i < by_lanes_.size(); ++i)
        by_lane[i].done.tally = &by_lanes_[i].tally();
      met.by_lane.store(by_lane, std::memory_order_release);
    }
  }
  return by_lanes_[lanes_->mine()];
}

void WindowState::flush_peer(Traffic& way, Peer& peer) {
  Pending& pending = way.pending(peer);
  const std::uint32_t posted = pending.posted.load(std::memory_order_relaxed);
  const Target& target = peer.target;
  if (way.lane() == nullptr && target.atomics != target.data) {
    sync::post(way.turns(), [&]() noexcept { return target.atomics->seal(pending.done); });
  }
  sync::flush(way.turns(), *pending.endpoint, pending.done);
  pending.flushed.store(posted, std::memory_order_relaxed);
}

[[gnu::hot]] void WindowState::flush_local_peer(Traffic& way, Peer& peer, Completion& done) {
  const Target& target = peer.target;
  if (way.lane() == nullptr && target.atomics != target.data && done.local_pending != 0) {
    sync::post(way.turns(), [&]() noexcept { return target.atomics->seal(done); });
  }
  sync::flush_local(way.turns(), *way.pending(peer).endpoint, done);
}

bool WindowState::is_any_lane_touched() const noexcept {
  return std::ranges::any_of(by_lanes_, [](const Traffic& way) { return way.is_touched(); });
}

/// Runs flush(way) for each lane by which something may be under way to the peer, in its turn. What
/// other threads have under way counts as this rank's. Requires: the peer was met by a lane.
template <class Flush>
[[gnu::noinline]] void WindowState::in_lanes_to(Peer& peer, Flush&& flush) {
  const Pending* const pending = peer.by_lane.load(std::memory_order_acquire);
  for (std::size_t number = 0; number < by_lanes_.size(); ++number) {
    if (!pending[number].needs_flush()) continue;
    Traffic& way = by_lanes_[number];
    const transport::Progress::Turn turn(way.turns());
    flush(way);
  }
}

/// The same, of all ways.
template <class Flush>
void WindowState::in_ways_to(Peer& peer, Flush&& flush) {
  if (peer.pending.needs_flush()) {
    const transport::Progress::Turn turn(common_.turns());
    flush(common_);
  }
  if (peer.was_met_by_lane()) in_lanes_to(peer, flush);
}

/// The same, for whatever peers.
template <class Flush>
void WindowState::in_touched(Flush&& flush) {
  const auto in = [&](Traffic& way) {
    if (!way.is_touched()) return;
    const transport::Progress::Turn turn(way.turns());
    flush(way);
  };
  std::ranges::for_each(by_lanes_, in);
  in(common_);
}

/// Flattened, as most operations end here.
[[gnu::hot, gnu::flatten]] void WindowState::flush(Rank target) {
  Peer* const known = peers_.find(checked_index("flush", target));
  if (known != nullptr) {
    in_ways_to(*known, [&](Traffic& way) { flush_peer(way, *known); });  // stays touched
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see ShmEndpoint::seal
}

void WindowState::flush_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  in_touched([](Traffic& way) {
    way.flush_each([&](Peer& peer) {
      if (way.pending(peer).needs_flush()) flush_peer(way, peer);
    });
  });
}

void WindowState::flush_local(Rank target) {
  Peer* const known = peers_.find(checked_index("flush_local", target));
  if (known == nullptr) return;
  in_ways_to(*known,
             [&](Traffic& way) { flush_local_peer(way, *known, way.pending(*known).done); });
}

void WindowState::flush_local_all() {
  in_touched([](Traffic& way) {
    way.for_each([&](Peer& peer) { flush_local_peer(way, peer, way.pending(peer).done); });
  });
}

/// flush_all() for who has the common turn.
void WindowState::flush_all_in_turn() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool any = common_.is_touched() || is_any_lane_touched();
  if (any) progress().out_of_turn([this] { flush_all(); });
}

/// What went to a target by lanes is there before the common way says so. For who has the common
/// turn.
void WindowState::flush_lanes(Peer& peer) {
  if (!is_any_lane_touched()) return;
  if (!peer.was_met_by_lane()) return;
  progress().out_of_turn([&] { in_lanes_to(peer, [&](Traffic& way) { flush_peer(way, peer); }); });
}

/// Who leaves here by an error tells the others, which may wait for it.
template <class Complete>
void WindowState::complete_with_all(std::string_view operation, Complete&& complete) {
  try {
    complete();
    barrier_->wait(operation);
  } catch (const Error& error) {
    team_state_->job().left_by(error);
    barrier_->give_up(&error);
    throw;
  }
}

void WindowState::fence(FenceAssertion assertions) {
  complete_with_all("fence", [&] {
    if (!contains(assertions, FenceAssertion::no_precede)) flush_all_in_turn();
  });
}

void WindowState::close() {
  closed_ = true;
  complete_with_all("Window::free", [this] {
    end_epochs();
    flush_all_in_turn();
    locks_->settle();  // hints that came too late may still be under way
    exposure_->settle();
    accumulate_locks_->settle();
  });
}

WindowCounters WindowState::counters() const noexcept {
  WindowCounters sum;
  const auto add = [&](const Traffic& way) {
    const transport::Tally& tally = way.tally();
    sum.work_requests += tally.lone_requests.value() + tally.work_requests.value();
    sum.doorbells += tally.lone_requests.value() + tally.doorbells.value();
    sum.completions += tally.completions.value();
    sum.inline_bytes += tally.inline_bytes.value();
    sum.bounce_bytes += tally.bounce_bytes.value();
    sum.retries += tally.retries.value();
  };
  add(common_);
  std::ranges::for_each(by_lanes_, add);
  return sum;
}

std::size_t WindowState::size_bytes(Rank target) const {
  return parts_[checked_index("size", target)].bytes;
}

namespace {

std::string promises_of(const WindowOptions& options) {
  std::string text;
  if (options.single_op) text += ", single op";
  if (options.single_element) text += ", single element";
  if (options.no_concurrent_accumulate) text += ", no concurrent accumulate";
  return text;
}

}  // namespace

std::string WindowState::describe() {
  std::string text =
      fmt::format("window {}: {}{}, {} notification slots, atomics: {} ({})\n", number_,
                  to_string(kind_), promises_of(options_), options_.notification_slots,
                  to_string(coherence_.domain), coherence_.reason);
  const transport::Progress::Turn turn(progress());
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const Part& part = parts_[index];
    text += fmt::format("  rank {}: {} bytes, {}\n", index, part.bytes,
                        part.address != nullptr ? "mapped" : peer(index).target.data->describe());
  }
  return text;
}

}  // namespace oriel::window
