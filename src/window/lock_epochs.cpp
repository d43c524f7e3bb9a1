#include "window/lock_epochs.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::window {

LockEpochs::LockEpochs(sync::ControlWords& mine, sync::Partners partners,
                       transport::Progress& progress, const sync::Vigil& vigil,
                       std::uint64_t window, std::span<sync::ControlWords* const> mapped)
    : partners_(std::move(partners)),
      vigil_(vigil),
      window_(window),
      locks_(mine, &sync::ControlWords::lock_node, partners_, progress, vigil),
      quick_(mapped, locks_, progress) {}

void LockEpochs::take_over() {
  const std::optional<QuickLocks::Held> held = quick_.take_over();
  if (!held) return;
  const auto mode = held->exclusive ? oriel::LockMode::exclusive : oriel::LockMode::shared;
  const Held taken{mode, false, held->epoch, true};
  if (held->target == QuickLocks::kAllParts) {
    all_ = taken;
  } else {
    held_[held->target] = taken;
  }
}

void LockEpochs::leave_if_idle() noexcept {
  if (held_.empty() && !all_) quick_.leave();
}

sync::Place LockEpochs::part_lock(int target) const {
  return partners_(target).at(offsetof(sync::ControlWords, part_lock));
}

sync::Place LockEpochs::window_lock() const {
  return partners_(0).at(offsetof(sync::ControlWords, window_lock));
}

void LockEpochs::refuse(std::string_view operation, std::optional<int> target, std::string problem,
                        std::string hint) const {
  ErrorDetails details{.operation = std::string(operation),
                       .problem = std::move(problem),
                       .origin = vigil_.members()[static_cast<std::size_t>(vigil_.rank())],
                       .window = window_,
                       .hint = std::move(hint)};
  if (target) details.target = vigil_.members()[static_cast<std::size_t>(*target)];
  base::throw_error(ErrorCode::wrong_epoch, std::move(details));
}

void LockEpochs::check_free(std::string_view operation, std::optional<int> target) const {
  if (all_) {
    refuse(operation, target, "this rank holds the lock of all parts already",
           "unlock_all() first");
  }
  if (target ? held_.contains(*target) : !held_.empty()) {
    const int part = target.value_or(held_.empty() ? 0 : held_.begin()->first);
    refuse(operation, part, fmt::format("this rank holds the lock of part {} already", part),
           fmt::format("unlock({}) first", part));
  }
}

/// The lock if it is held, and not only being taken.
const LockEpochs::Held* LockEpochs::find(std::optional<int> target) const {
  if (!target) return all_ && all_->taken ? &*all_ : nullptr;
  const auto found = held_.find(*target);
  return found != held_.end() && found->second.taken ? &found->second : nullptr;
}

void LockEpochs::check_held(std::string_view operation, std::optional<int> target) const {
  if (find(target) != nullptr) return;
  refuse(operation, target,
         target ? fmt::format("this rank does not hold the lock of part {}", *target)
                : "this rank does not hold the lock of all parts",
         target ? "lock() comes first, and is given back once" : "lock_all() comes first");
}

/// Behind a lock_all() that waits only if this rank holds nothing that it might be waiting for.
void LockEpochs::join_crowd() {
  const bool holds_more = held_.size() > 1;  // than what is being taken
  if (holds_more) {
    locks_.lock_past_queue("lock", window_lock(), sync::LockMode::crowd);
  } else {
    locks_.lock("lock", window_lock(), sync::LockMode::crowd);
  }
}

void LockEpochs::take(int target, oriel::LockMode mode) {
  if (mode == oriel::LockMode::shared) {
    locks_.lock("lock", part_lock(target), sync::LockMode::shared);
    return;
  }
  join_crowd();
  locks_.lock("lock", part_lock(target), sync::LockMode::exclusive);
}

void LockEpochs::give_back(int target, oriel::LockMode mode) {
  if (mode == oriel::LockMode::shared) {
    locks_.unlock(part_lock(target), sync::LockMode::shared);
    return;
  }
  locks_.unlock(part_lock(target), sync::LockMode::exclusive);
  locks_.unlock(window_lock(), sync::LockMode::crowd);
}

std::uint64_t LockEpochs::lock(int target, oriel::LockMode mode, bool no_check) {
  check_free("lock", target);
  const std::uint64_t epoch = ++epochs_;
  held_[target] = {mode, no_check, epoch, no_check};
  if (no_check) return epoch;
  try {
    take(target, mode);
  } catch (...) {
    held_.erase(target);
    throw;
  }
  held_.at(target).taken = true;
  return epoch;
}

std::uint64_t LockEpochs::lock_all(bool no_check) {
  check_free("lock_all", std::nullopt);
  const std::uint64_t epoch = ++epochs_;
  all_ = {oriel::LockMode::shared, no_check, epoch, no_check};
  if (no_check) return epoch;
  try {
    locks_.lock("lock_all", window_lock(), sync::LockMode::shared);
  } catch (...) {
    all_.reset();
    throw;
  }
  all_->taken = true;
  return epoch;
}

void LockEpochs::unlock(int target) {
  check_held("unlock", target);
  const Held held = held_.at(target);
  held_.erase(target);  // also when giving it back fails: it is not tried twice
  if (!held.no_check) give_back(target, held.mode);
}

void LockEpochs::unlock_all() {
  check_held("unlock_all", std::nullopt);
  const bool no_check = all_->no_check;
  all_.reset();
  if (!no_check) locks_.unlock(window_lock(), sync::LockMode::shared);
}

bool LockEpochs::holds(std::optional<int> target, std::uint64_t epoch) const {
  const Held* const held = find(target);
  return held != nullptr && held->epoch == epoch;
}

std::optional<int> LockEpochs::any_held() const {
  return held_.empty() ? std::nullopt : std::optional(held_.begin()->first);
}

}  // namespace oriel::window
