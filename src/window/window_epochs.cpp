// Locks, post/start/complete/wait and notifications of a window. The protocols are in sync/ and
// lock_epochs.hpp; here they meet what the window has outstanding.

#include <exception>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "window/window_state.hpp"

namespace oriel::window {
namespace {

std::vector<int> indices_of(std::span<const Rank> group) {
  std::vector<int> indices;
  for (const Rank rank : group) indices.push_back(static_cast<int>(rank));
  return indices;
}

}  // namespace

std::uint64_t WindowState::lock(Rank target, LockMode mode, bool no_check) {
  const std::size_t index = checked_index("lock", target);
  check_atomics("lock");
  const LockEpochs::Charge charge(*locks_);
  return locks_->lock(static_cast<int>(index), mode, no_check);
}

std::uint64_t WindowState::lock_all(bool no_check) {
  check_atomics("lock_all");
  const LockEpochs::Charge charge(*locks_);
  return locks_->lock_all(no_check);
}

void WindowState::unlock(Rank target) {
  const std::size_t index = checked_index("unlock", target);
  const LockEpochs::Charge charge(*locks_);
  locks_->check_held("unlock", static_cast<int>(index));
  progress().out_of_turn([&] { flush(target); });
  locks_->unlock(static_cast<int>(index));
}

void WindowState::unlock_all() {
  const LockEpochs::Charge charge(*locks_);
  locks_->check_held("unlock_all", std::nullopt);
  flush_all_in_turn();
  locks_->unlock_all();
}

void WindowState::unlock(int target, std::uint64_t epoch) {
  const LockEpochs::Charge charge(*locks_);
  if (target == QuickLocks::kAllParts) {
    if (locks_->holds(std::nullopt, epoch)) unlock_all();
  } else if (locks_->holds(target, epoch)) {
    unlock(Rank(target));
  }
}

/// What the program has left open would make others wait for this rank.
void WindowState::end_epochs() {
  if (exposure_->in_access()) complete();
  const LockEpochs::Charge charge(*locks_);
  while (const auto held = locks_->any_held()) {
    base::log(base::LogLevel::warning, "window {} is freed with part {} locked by this rank",
              number_, *held);
    unlock(Rank{*held});
  }
  if (locks_->all_held()) {
    base::log(base::LogLevel::warning, "window {} is freed with all parts locked by this rank",
              number_);
    unlock_all();
  }
}

void WindowState::post(std::span<const Rank> origins) {
  exposure_->post(indices_of(origins));
}

void WindowState::start(std::span<const Rank> targets) {
  exposure_->start(indices_of(targets));
}

// The word of completion goes the way of the data, and arrives behind it; what has gone another way
// is waited for first.
void WindowState::complete() {
  for (const int index : exposure_->targets()) {
    Peer* const known = peers_.find(static_cast<std::size_t>(index));
    if (known == nullptr) continue;
    const bool other_way = known->target.atomics != known->target.data;
    if (other_way && known->pending.needs_flush()) flush_peer(common_, *known);
    flush_lanes(*known);
  }
  const std::vector<int> targets(exposure_->targets().begin(), exposure_->targets().end());
  exposure_->complete();
  for (const int index : targets) {
    Peer* const known = peers_.find(static_cast<std::size_t>(index));
    if (known == nullptr || !known->pending.needs_flush()) continue;
    flush_local_peer(common_, *known, known->pending.done);
  }
}

void WindowState::wait() {
  exposure_->wait();
}

bool WindowState::test() {
  return exposure_->test();
}

}  // namespace oriel::window
