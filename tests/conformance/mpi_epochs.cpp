// Epochs of MPI's: what surrounds operations, and ends them.

#include <sched.h>

#include <algorithm>

#include "conformance/mpi_interpreter.hpp"
#include "conformance/mpi_rules.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance::mpi {
namespace {

/// Ranks of the world.
class Group {
 public:
  Group(MPI_Win win, const std::vector<int>& ranks_of_window) {
    MPI_Group all = MPI_GROUP_NULL;
    check(MPI_Win_get_group(win, &all), "MPI_Win_get_group");
    check(MPI_Group_incl(all, static_cast<int>(ranks_of_window.size()), ranks_of_window.data(),
                         &group_),
          "MPI_Group_incl");
    MPI_Group_free(&all);
  }
  ~Group() {
    if (group_ != MPI_GROUP_EMPTY) MPI_Group_free(&group_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  [[nodiscard]] MPI_Group get() const noexcept { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_EMPTY;
};

/// Whether the rank's part is put to, or accumulated on.
bool is_changed(const Epoch& epoch, int rank) {
  return std::ranges::any_of(epoch.operations, [&](const Operation& operation) {
    return operation.target == rank && facts(operation.call).sends;
  });
}

/// Whether all of a phase is of this kind.
bool is_one(const Phase& phase, EpochKind kind) {
  return phase.epochs.size() == 1 && phase.epochs.front().kind == kind;
}

}  // namespace

void MpiInterpreter::start_all(const Epoch& epoch) {
  for_each_work(epoch, [&](Work& work) { start(work); });
  finish_requests(&epoch, epoch.seed);
}

void MpiInterpreter::run(const Epoch& epoch) {
  begin(epoch);
  switch (epoch.kind) {
    case EpochKind::fence:
      run_fence(epoch);
      break;
    case EpochKind::pscw:
      run_pscw(epoch);
      break;
    case EpochKind::lock_exclusive:
      run_locks(epoch);
      break;
    case EpochKind::lock_shared:
      epoch.seed % 2 == 0 ? run_locks(epoch) : run_shared_locks(epoch);
      break;
    default:
      run_lock_all(epoch);
      break;
  }
}

/// Where kinds change, no rank may be locked while another exposes its part.
void MpiInterpreter::begin(const Epoch& epoch) {
  Window& win = window(epoch);
  const Kind kind = is_passive(epoch.kind)           ? Kind::passive
                    : epoch.kind == EpochKind::fence ? Kind::fence
                                                     : Kind::pscw;
  if (win.last && *win.last != kind) job_.barrier();
  if (kind != Kind::fence) win.is_fenced = false;
  win.last = kind;
}

void MpiInterpreter::run_fence(const Epoch& epoch) {
  Window& win = window(epoch);
  if (!win.is_fenced || epoch.seed % 3 == 0) {
    int assertion = epoch.seed / 3 % 2 == 0 ? MPI_MODE_NOPRECEDE : 0;
    if (!is_changed(epoch, job_.rank()) && epoch.seed / 6 % 2 == 0) assertion |= MPI_MODE_NOPUT;
    attempt("fence", [&] { check(MPI_Win_fence(assertion, win.handle), "MPI_Win_fence"); });
  }
  start_all(epoch);
  win.is_fenced = epoch.seed / 12 % 2 == 0;
  const int assertion = win.is_fenced ? 0 : MPI_MODE_NOSUCCEED;
  attempt("fence", [&] { check(MPI_Win_fence(assertion, win.handle), "MPI_Win_fence"); });
}

void MpiInterpreter::run_pscw(const Epoch& epoch) {
  const Window& win = window(epoch);
  const auto group_of = [&](bool as_origin) {
    std::vector<int> ranks = partners(epoch, job_.rank(), as_origin);
    for (int& rank : ranks) rank = rank_in(win, rank);
    return ranks;
  };
  const std::vector<int> origins = group_of(false);
  const std::vector<int> targets = group_of(true);
  if (!origins.empty()) {
    attempt("post", [&] {
      const Group group(win.handle, origins);
      const int assertion = is_changed(epoch, job_.rank()) ? 0 : MPI_MODE_NOPUT;
      check(MPI_Win_post(group.get(), assertion, win.handle), "MPI_Win_post");
    });
  }
  if (!targets.empty()) {
    attempt("start", [&] {
      const Group group(win.handle, targets);
      check(MPI_Win_start(group.get(), 0, win.handle), "MPI_Win_start");
    });
  }
  start_all(epoch);
  if (!targets.empty()) {
    attempt("complete", [&] { check(MPI_Win_complete(win.handle), "MPI_Win_complete"); });
  }
  if (origins.empty()) return;
  attempt("wait", [&] {
    if (epoch.seed % 2 == 0) {
      check(MPI_Win_wait(win.handle), "MPI_Win_wait");
      return;
    }
    int done = 0;
    while (true) {
      check(MPI_Win_test(win.handle, &done), "MPI_Win_test");
      if (done != 0) return;
      ::sched_yield();
    }
  });
}

/// A lock for every run of operations on one target.
void MpiInterpreter::run_locks(const Epoch& epoch) {
  const Window& win = window(epoch);
  const int mode = epoch.kind == EpochKind::lock_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
  int locked = -1;
  const auto unlock = [&] {
    if (locked < 0) return;
    attempt("unlock",
            [&] { check(MPI_Win_unlock(rank_in(win, locked), win.handle), "MPI_Win_unlock"); });
    locked = -1;
  };
  for_each_work(epoch, [&](Work& work) {
    if (work.operation->target != locked) {
      unlock();
      locked = work.operation->target;
      attempt("lock", [&] {
        check(MPI_Win_lock(mode, rank_in(win, locked), 0, win.handle), "MPI_Win_lock");
      });
    }
    start(work);
  });
  unlock();
  finish_requests(&epoch, epoch.seed);
}

/// All targets at once, and given back in any order.
void MpiInterpreter::run_shared_locks(const Epoch& epoch) {
  const Window& win = window(epoch);
  std::vector<int> targets = partners(epoch, job_.rank(), true);
  for (const int target : targets) {
    attempt("lock", [&] {
      check(MPI_Win_lock(MPI_LOCK_SHARED, rank_in(win, target), 0, win.handle), "MPI_Win_lock");
    });
  }
  start_all(epoch);
  if (epoch.seed / 2 % 2 == 0) std::ranges::reverse(targets);
  for (const int target : targets) {
    attempt("unlock",
            [&] { check(MPI_Win_unlock(rank_in(win, target), win.handle), "MPI_Win_unlock"); });
  }
}

void MpiInterpreter::run_lock_all(const Epoch& epoch) {
  const Window& win = window(epoch);
  attempt("lock_all", [&] { check(MPI_Win_lock_all(0, win.handle), "MPI_Win_lock_all"); });
  start_all(epoch);
  if (epoch.kind == EpochKind::flush) flush_all_targets(epoch);
  if (epoch.kind == EpochKind::notify) {
    for (const int target : partners(epoch, job_.rank(), true)) {
      attempt("notify", [&] { notify(epoch, target, 0); });
    }
  }
  attempt("unlock_all", [&] { check(MPI_Win_unlock_all(win.handle), "MPI_Win_unlock_all"); });
  if (epoch.kind == EpochKind::notify) await_notifications(epoch);
}

void MpiInterpreter::flush_all_targets(const Epoch& epoch) {
  const Window& win = window(epoch);
  if (epoch.seed % 2 == 0) {
    attempt("flush_all", [&] { check(MPI_Win_flush_all(win.handle), "MPI_Win_flush_all"); });
  } else {
    for (const int target : partners(epoch, job_.rank(), true)) {
      attempt("flush",
              [&] { check(MPI_Win_flush(rank_in(win, target), win.handle), "MPI_Win_flush"); });
    }
  }
  // All is complete, within the epoch still.
  for_each_work(epoch, [&](Work& work) {
    if (request(work) == MPI_REQUEST_NULL) finished(work);
  });
}

/// Without a lock: whoever is to notify this rank may wait for one that excludes it.
void MpiInterpreter::await_notifications(const Epoch& epoch) {
  std::vector<std::uint64_t> counts =
      notifications(epoch, job_.rank(), program_.windows[epoch.window].options.notification_slots);
  counts[0] += partners(epoch, job_.rank(), false).size();
  for (std::size_t slot = 0; slot < counts.size(); ++slot) {
    for (std::uint64_t i = 0; i < counts[slot]; ++i) {
      attempt("recv", [&] {
        check(MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_of(epoch, slot), messages_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
      });
    }
  }
  attempt("waitall", [&] {
    check(MPI_Waitall(static_cast<int>(notifications_.size()), notifications_.data(),
                      MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    notifications_.clear();
  });
}

/// A fence, or the end of an exposure, lets a rank look at its part, as does the last message of
/// those who were to send one; else all meet first.
void MpiInterpreter::settle(const Phase& phase) {
  const bool is_synchronised = is_one(phase, EpochKind::fence) || is_one(phase, EpochKind::pscw);
  if (!is_synchronised) {
    if (!is_one(phase, EpochKind::notify)) job_.barrier();
    for (const Epoch& epoch : phase.epochs) {
      attempt("sync", [&] { sync_passively(window(epoch)); });
    }
  }
  for (Window& window : windows_) window.last.reset();
}

}  // namespace oriel::conformance::mpi
