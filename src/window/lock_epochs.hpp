#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <oriel/window_options.hpp>

#include "sync/partner.hpp"
#include "sync/queued_lock.hpp"

namespace oriel::window {

/// The locks that this rank holds of one window [MPI_Win_lock, MPI_Win_lock_all].
///
/// Two levels, so that lock_all() costs one atomic whatever the number of ranks [Gerstenberger,
/// Besta, Hoefler 2013, foMPI]: each part has a lock of its own, and rank 0 keeps one of the whole
/// window. A shared holder of a part holds that part's lock alone. A rank with exclusive parts has
/// joined, behind the lock of its first one, the crowd at rank 0, which excludes lock_all(); and
/// lock_all() holds rank 0's lock shared, which excludes that crowd.
///
/// No circle between the two levels: who holds rank 0's lock shared waits for nothing; who is in
/// the crowd holds what it asked for, and waits at rank 0 no more, however many parts it locks,
/// as it joins once. So a wait at rank 0 is for ranks that wait, if at all, for a part: those
/// circles are the program's own. (A rank that joined for each part would queue behind a lock_all()
/// that waits for it; one that joined before it has the part would make a lock_all() wait for who
/// has nothing yet.)
///
/// A lock that is being taken counts as held for the other threads of this rank.
class LockEpochs {
 public:
  LockEpochs(sync::ControlWords& mine, sync::Partners partners, transport::Progress& progress,
             const sync::Vigil& vigil, std::uint64_t window);

  /// Numbers of epochs are never used again. Errors: wrong_epoch; those of QueuedLock.
  /// @param no_check  the program knows that there is nobody to exclude: nothing is sent
  std::uint64_t lock(int target, oriel::LockMode mode, bool no_check);
  std::uint64_t lock_all(bool no_check);
  /// What was done under the lock is complete. Errors: wrong_epoch; those of QueuedLock.
  void unlock(int target);
  void unlock_all();

  /// As that of QueuedLock.
  void settle() { locks_.settle(); }

  /// Errors: wrong_epoch, with the operation's name, if the lock is not held.
  void check_held(std::string_view operation, std::optional<int> target) const;
  [[nodiscard]] bool holds(std::optional<int> target, std::uint64_t epoch) const;
  /// Some part that is held, or none.
  [[nodiscard]] std::optional<int> any_held() const;
  [[nodiscard]] bool all_held() const noexcept { return all_.has_value(); }
  [[nodiscard]] std::uint64_t atomics() const noexcept { return locks_.atomics(); }

 private:
  struct Held {
    oriel::LockMode mode;
    bool no_check;
    std::uint64_t epoch;
    bool taken;  // false while it is being waited for
  };
  void check_free(std::string_view operation, std::optional<int> target) const;
  [[nodiscard]] const Held* find(std::optional<int> target) const;
  void take(int target, oriel::LockMode mode);
  void give_back(int target, oriel::LockMode mode);
  template <class Step>
  void move_crowd(Step&& step);
  void join_crowd();
  void leave_crowd();
  [[nodiscard]] sync::Place part_lock(int target) const;
  [[nodiscard]] sync::Place window_lock() const;
  [[noreturn]] void refuse(std::string_view operation, std::optional<int> target,
                           std::string problem, std::string hint) const;

  sync::Partners partners_;
  transport::Progress& progress_;
  const sync::Vigil& vigil_;
  std::uint64_t window_;
  sync::QueuedLock locks_;
  std::map<int, Held> held_;  // by target
  std::optional<Held> all_;
  std::size_t in_crowd_ = 0;  // exclusive parts of this rank
  bool moving_ = false;       // a thread is on its way into the crowd, or out of it
  std::uint64_t epochs_ = 0;
};

}  // namespace oriel::window
