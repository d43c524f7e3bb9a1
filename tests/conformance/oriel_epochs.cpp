// Epochs of Oriel's: what surrounds operations, and ends them.

#include <sched.h>

#include <algorithm>

#include "conformance/oriel_interpreter.hpp"

namespace oriel::conformance {
namespace {

std::vector<Rank> ranks_of(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Whether the phase's own synchronisation lets every rank look at its part.
bool ends_synchronised(const Phase& phase) {
  if (phase.epochs.size() != 1) return false;
  const EpochKind kind = phase.epochs.front().kind;
  return kind == EpochKind::fence || kind == EpochKind::pscw || kind == EpochKind::notify;
}

}  // namespace

void OrielInterpreter::start_all(const Epoch& epoch) {
  for_each_work(epoch, [&](Work& work) { start(work); });
  finish_requests(&epoch, epoch.seed);
}

void OrielInterpreter::run(const Epoch& epoch) {
  switch (epoch.kind) {
    case EpochKind::lock_shared:
    case EpochKind::lock_exclusive:
      run_locks(epoch);
      break;
    default:
      run_general_epoch(epoch);
      break;
  }
}

void OrielInterpreter::settle(const Phase& phase) {
  if (ends_synchronised(phase)) return;
  for (const Epoch& epoch : phase.epochs) {
    attempt("sync", [&] { window(epoch.window).sync(); });
  }
  attempt("barrier", [&] { world_.barrier(); });
}

/// A lock for every run of operations on one target.
void OrielInterpreter::run_locks(const Epoch& epoch) {
  WindowBytes& win = window(epoch.window);
  const LockMode mode =
      epoch.kind == EpochKind::lock_shared ? LockMode::shared : LockMode::exclusive;
  std::optional<LockGuard> guard;
  int locked = -1;
  const auto unlock = [&] {
    if (guard) attempt("unlock", [&] { guard->unlock(); });
    guard.reset();
  };
  for_each_work(epoch, [&](Work& work) {
    if (work.operation->target != locked) {
      unlock();
      locked = work.operation->target;
      attempt("lock", [&] { guard.emplace(win.lock(Rank(locked), mode)); });
    }
    start(work);
  });
  unlock();
  finish_requests(&epoch, epoch.seed);
}

void OrielInterpreter::run_general_epoch(const Epoch& epoch) {
  WindowBytes& win = window(epoch.window);
  switch (epoch.kind) {
    case EpochKind::fence:
      start_all(epoch);
      attempt("fence", [&] { win.fence(); });
      break;
    case EpochKind::lock_all: {
      std::optional<LockGuard> guard;
      attempt("lock_all", [&] { guard.emplace(win.lock_all()); });
      start_all(epoch);
      if (guard) attempt("unlock_all", [&] { guard->unlock(); });
      break;
    }
    case EpochKind::pscw: {
      const std::vector<Rank> origins = ranks_of(partners(epoch, job_.rank(), false));
      const std::vector<Rank> targets = ranks_of(partners(epoch, job_.rank(), true));
      if (!origins.empty()) attempt("post", [&] { win.post(origins); });
      if (!targets.empty()) attempt("start", [&] { win.start(targets); });
      start_all(epoch);
      if (!targets.empty()) attempt("complete", [&] { win.complete(); });
      if (origins.empty()) break;
      attempt("wait", [&] {
        if (epoch.seed % 2 == 0) return win.wait();
        while (!win.test()) ::sched_yield();
      });
      break;
    }
    case EpochKind::notify:
      start_all(epoch);
      notify_and_wait(epoch);
      break;
    default:  // flush
      start_all(epoch);
      if (epoch.seed % 2 == 0) {
        attempt("flush_all", [&] { win.flush_all(); });
      } else {
        for (const int target : partners(epoch, job_.rank(), true)) {
          attempt("flush", [&] { win.flush(Rank(target)); });
        }
      }
      break;
  }
}

/// A last notification follows the operations on each target; it arrives behind all of them.
void OrielInterpreter::notify_and_wait(const Epoch& epoch) {
  WindowBytes& win = window(epoch.window);
  const WindowPlan& plan = program_.windows[epoch.window];
  for (const int target : partners(epoch, job_.rank(), true)) {
    const auto index = static_cast<std::size_t>(target);
    const std::size_t base = plan.kind == WindowKind::dynamic
                                 ? memories_[plan.memory].addresses[index] + plan.first_byte
                                 : 0;
    attempt("put_notify", [&] {
      win.put_notify(nullptr, 0, {"put_notify", Rank(target), base}, 0);
    });
  }
  std::vector<std::uint64_t> counts =
      notifications(epoch, job_.rank(), plan.options.notification_slots);
  counts[0] += partners(epoch, job_.rank(), false).size();
  wait_for_slots(epoch, counts);
  attempt("flush_local_all", [&] { win.flush_local_all(); });
}

void OrielInterpreter::wait_for_slots(const Epoch& epoch, std::span<const std::uint64_t> counts) {
  WindowBytes& win = window(epoch.window);
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  const bool alike =
      std::ranges::all_of(counts, [&](std::uint64_t count) { return count == counts[0]; });
  switch (epoch.seed % 4) {
    case 0:
      for (std::uint64_t i = 0; i < total; ++i) {
        attempt("wait_notify_any",
                [&] { static_cast<void>(win.wait_notify_any(0, counts.size())); });
      }
      return;
    case 1:
      for (std::size_t slot = 0; slot < counts.size(); ++slot) {
        attempt("test_notify", [&] {
          while (!win.test_notify(slot, counts[slot])) ::sched_yield();
        });
      }
      return;
    case 2:
      if (alike) {
        attempt("wait_notify_all", [&] { win.wait_notify_all(0, counts.size(), counts[0]); });
        return;
      }
      [[fallthrough]];
    default:
      for (std::size_t slot = 0; slot < counts.size(); ++slot) {
        if (counts[slot] == 0) continue;
        attempt("wait_notify", [&] { win.wait_notify(slot, counts[slot]); });
      }
      return;
  }
}

}  // namespace oriel::conformance
