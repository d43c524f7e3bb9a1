#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <oriel/window_options.hpp>

#include "sync/partner.hpp"
#include "sync/queued_lock.hpp"
#include "window/quick_locks.hpp"

namespace oriel::window {

/// The locks that this rank holds of one window [MPI_Win_lock, MPI_Win_lock_all].
///
/// Two levels, so that lock_all() costs one atomic whatever the number of ranks [Gerstenberger,
/// Besta, Hoefler 2013, foMPI]: each part has a lock of its own, and rank 0 keeps one of the whole
/// window. A shared holder of a part holds that part's lock alone. An exclusive one has joined the
/// crowd at rank 0 before, once for each part; that excludes lock_all(), which holds rank 0's lock
/// shared.
///
/// No circle leads through rank 0. Who queues there holds nothing yet, so that nobody waits for it
/// but those behind it in that queue. Who does hold something passes the queue into the crowd, and
/// waits for holders of all parts alone, who can lock nothing more and so wait for no lock. What is
/// left are circles among parts, each of which has its queue as if there were no other: those are
/// the program's own. (Had the crowd been joined behind the part's lock, a rank would hold that
/// lock while it queues behind a lock_all(), which waits for the crowd, whose member waits for that
/// part.) The price: a lock_all() that waits is passed by ranks that hold parts and lock more.
///
/// A lock that is being taken counts as held for the other threads of this rank.
class LockEpochs {
 public:
  /// @param mapped  the words of all ranks, if CPU atomics alone work on them
  LockEpochs(sync::ControlWords& mine, sync::Partners partners, transport::Progress& progress,
             const sync::Vigil& vigil, std::uint64_t window,
             std::span<sync::ControlWords* const> mapped = {});

  /// The short way, to be tried before the others, which work on what a Charge took over from it.
  /// Needs no turn.
  [[nodiscard]] QuickLocks& quick() noexcept { return quick_; }
  /// The right to call the others, for a scope.
  class Charge {
   public:
    explicit Charge(LockEpochs& locks) : locks_(locks) { locks_.take_over(); }
    ~Charge() { locks_.leave_if_idle(); }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

   private:
    LockEpochs& locks_;
  };

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
  void take_over();
  void leave_if_idle() noexcept;
  void check_free(std::string_view operation, std::optional<int> target) const;
  [[nodiscard]] const Held* find(std::optional<int> target) const;
  void take(int target, oriel::LockMode mode);
  void give_back(int target, oriel::LockMode mode);
  void join_crowd();
  [[nodiscard]] sync::Place part_lock(int target) const;
  [[nodiscard]] sync::Place window_lock() const;
  [[noreturn]] void refuse(std::string_view operation, std::optional<int> target,
                           std::string problem, std::string hint) const;

  sync::Partners partners_;
  const sync::Vigil& vigil_;
  std::uint64_t window_;
  sync::QueuedLock locks_;
  QuickLocks quick_;
  std::map<int, Held> held_;  // by target
  std::optional<Held> all_;
  std::uint64_t epochs_ = QuickLocks::kEpochs;
};

}  // namespace oriel::window
