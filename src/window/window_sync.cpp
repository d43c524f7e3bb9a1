// Who counts an operation, flush, fence and the end of a window.

#include <atomic>

#include <fmt/format.h>

#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

using transport::Completion;

Completion& WindowState::pending(const TargetBytes& where) {
  return common().pending(checked_index(where.operation, where.rank), targets_.size());
}

/// Lanes are for what goes by the device, to memory that stays where it is.
Traffic& WindowState::way_to(const TargetBytes& where) {
  const JobContext& job = team_state_->job();
  if (job.lanes == nullptr || kind_ == WindowKind::dynamic) return common();
  const int world_rank = team_state_->members()[checked_index(where.operation, where.rank)];
  const bool by_device = &memory_.path_to(world_rank) == job.verbs;
  return by_device ? traffic_[job.lanes->mine()] : common();
}

transport::Endpoint& WindowState::data_endpoint(std::size_t index, Traffic& way) {
  if (way.lane() == nullptr) return *targets_[index].data;
  return way.lane()->endpoint(team_state_->members()[index]);
}

RequestState& WindowState::new_request(const TargetBytes& where) {
  Completion& within = pending(where);
  const Target& target = targets_[checked_index(where.operation, where.rank)];
  return team_state_->job().requests->acquire(within, *target.data, *target.atomics);
}

void WindowState::flush_index(Traffic& way, std::size_t index) {
  const Target& target = targets_[index];
  Completion& pending = way.pending(index);
  if (way.lane() == nullptr && target.atomics != target.data) {
    sync::post(way.turns(), [&]() noexcept { return target.atomics->seal(pending); });
  }
  sync::flush(way.turns(), data_endpoint(index, way), pending);
}

void WindowState::flush_local_index(Traffic& way, std::size_t index, Completion& done) {
  const Target& target = targets_[index];
  if (way.lane() == nullptr && target.atomics != target.data && done.local_pending != 0) {
    sync::post(way.turns(), [&]() noexcept { return target.atomics->seal(done); });
  }
  sync::flush_local(way.turns(), data_endpoint(index, way), done);
}

bool WindowState::is_any_touched(std::size_t ways) const noexcept {
  for (std::size_t number = 0; number < ways; ++number) {
    if (traffic_[number].is_touched()) return true;
  }
  return false;
}

/// Runs flush(way) for each of the first `ways`, in its turn. What other threads have under way
/// counts as this rank's.
template <class Flush>
void WindowState::in_touched(std::size_t ways, Flush&& flush) {
  for (std::size_t number = 0; number < ways; ++number) {
    Traffic& way = traffic_[number];
    if (!way.is_touched()) continue;
    const transport::Progress::Turn turn(way.turns());
    flush(way);
  }
}

void WindowState::flush_in(std::size_t ways, std::size_t index) {
  in_touched(ways, [&](Traffic& way) {
    if (way.is_touched(index)) flush_index(way, index);  // stays touched: flush_all finds it done
  });
}

void WindowState::flush(Rank target) {
  flush_in(traffic_.size(), checked_index("flush", target));
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see ShmEndpoint::seal
}

void WindowState::flush_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  in_touched(traffic_.size(), [&](Traffic& way) {
    way.flush_each([&](std::size_t index) { flush_index(way, index); });
  });
}

void WindowState::flush_local(Rank target) {
  const std::size_t index = checked_index("flush_local", target);
  in_touched(traffic_.size(), [&](Traffic& way) {
    if (way.is_touched(index)) flush_local_index(way, index, way.pending(index));
  });
}

void WindowState::flush_local_all() {
  in_touched(traffic_.size(), [&](Traffic& way) {
    way.for_each([&](std::size_t index) { flush_local_index(way, index, way.pending(index)); });
  });
}

/// flush_all() for who has the common turn.
void WindowState::flush_all_in_turn() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (is_any_touched(traffic_.size())) progress().out_of_turn([this] { flush_all(); });
}

/// What went to a target by lanes is there before the common way says so. For who has the common
/// turn.
void WindowState::flush_lanes(std::size_t index) {
  const std::size_t lanes = traffic_.size() - 1;
  if (is_any_touched(lanes)) progress().out_of_turn([&] { flush_in(lanes, index); });
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

std::size_t WindowState::size_bytes(Rank target) const {
  return targets_[checked_index("size", target)].bytes;
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

std::string WindowState::describe() const {
  std::string text =
      fmt::format("window {}: {}{}, {} notification slots, atomics: {} ({})\n", number_,
                  to_string(kind_), promises_of(options_), options_.notification_slots,
                  to_string(coherence_.domain), coherence_.reason);
  for (std::size_t index = 0; index < targets_.size(); ++index) {
    const Target& target = targets_[index];
    text += fmt::format("  rank {}: {} bytes, {}\n", index, target.bytes,
                        target.mapped != nullptr ? "mapped" : target.data->describe());
  }
  return text;
}

}  // namespace oriel::window
