#include "window/lock_epochs.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::window {

LockEpochs::LockEpochs(sync::ControlWords& mine, sync::Partners partners,
                       transport::Progress& progress, const sync::Vigil& vigil,
                       std::uint64_t window)
    : partners_(std::move(partners)),
      progress_(progress),
      vigil_(vigil),
      window_(window),
      locks_(mine, &sync::ControlWords::lock_node, partners_, progress, vigil) {}

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

/// Runs `step` into or out of the crowd; other threads of this rank wait for its end.
template <class Step>
void LockEpochs::move_crowd(Step&& step) {
  moving_ = true;
  try {
    step();
  } catch (...) {
    moving_ = false;
    throw;
  }
  moving_ = false;
}

/// For one part more; only the first one has to wait for it.
void LockEpochs::join_crowd() {
  progress_.wait([this]() noexcept { return !moving_; }, vigil_.watch("lock"));
  if (in_crowd_ == 0) {
    move_crowd([this] { locks_.lock("lock", window_lock(), sync::LockMode::crowd); });
  }
  ++in_crowd_;
}

void LockEpochs::leave_crowd() {
  if (--in_crowd_ != 0) return;
  move_crowd([this] { locks_.unlock(window_lock(), sync::LockMode::crowd); });
}

void LockEpochs::take(int target, oriel::LockMode mode) {
  if (mode == oriel::LockMode::shared) {
    locks_.lock("lock", part_lock(target), sync::LockMode::shared);
    return;
  }
  locks_.lock("lock", part_lock(target), sync::LockMode::exclusive);
  join_crowd();
}

void LockEpochs::give_back(int target, oriel::LockMode mode) {
  if (mode == oriel::LockMode::shared) {
    locks_.unlock(part_lock(target), sync::LockMode::shared);
    return;
  }
  leave_crowd();
  locks_.unlock(part_lock(target), sync::LockMode::exclusive);
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
