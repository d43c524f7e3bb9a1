// Epochs begin and end: MPI's rules first (epochs.hpp), then Oriel's own call.

#include <atomic>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "mpi/call.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

void check_assertions(int given, int allowed) {
  if ((given & ~allowed) != 0)
    fail(MPI_ERR_ASSERT,
         fmt::format("assertions {:#x}, of which only {:#x} have a meaning here", given, allowed));
}

void fence(Win& window, int assertions) {
  check_assertions(assertions,
                   MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  const auto asserts = [&](int mode) { return (assertions & mode) != 0; };
  window.epochs.fence(asserts(MPI_MODE_NOSUCCEED));
  FenceAssertion given = FenceAssertion::none;
  if (asserts(MPI_MODE_NOPRECEDE)) given = given | FenceAssertion::no_precede;
  if (asserts(MPI_MODE_NOSUCCEED)) given = given | FenceAssertion::no_succeed;
  if (asserts(MPI_MODE_NOSTORE)) given = given | FenceAssertion::no_store;
  if (asserts(MPI_MODE_NOPUT)) given = given | FenceAssertion::no_put;
  window.window.fence(given);
}

/// The window's ranks of a group of some of its processes.
std::vector<int> ranks_of(const Win& window, MPI_Group group) {
  if (group == MPI_GROUP_NULL) fail(MPI_ERR_GROUP, "MPI_GROUP_NULL");
  std::vector<int> ours = translated_ranks(group, window.group);
  for (const int rank : ours)
    if (rank == MPI_UNDEFINED) fail(MPI_ERR_GROUP, "a process of the group is not of the window");
  return ours;
}

std::vector<Rank> as_ranks(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

void post(Win& window, MPI_Group group, int assertions) {
  check_assertions(assertions, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
  const auto origins = ranks_of(window, group);
  window.epochs.post();
  window.window.post(as_ranks(origins));
}

// MPI_MODE_NOCHECK says that all have posted: then nothing is waited for, without being told.
void start(Win& window, MPI_Group group, int assertions) {
  check_assertions(assertions, MPI_MODE_NOCHECK);
  const auto targets = ranks_of(window, group);
  window.epochs.start(targets);
  window.window.start(as_ranks(targets));
}

void lock(Win& window, int type, int target, int assertions) {
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
    fail(MPI_ERR_LOCKTYPE, fmt::format("lock type {}", type));
  check_assertions(assertions, MPI_MODE_NOCHECK);
  if (target == MPI_PROC_NULL) return;
  window.check_rank(target);
  const bool exclusive = type == MPI_LOCK_EXCLUSIVE;
  window.epochs.lock(target);
  window.window
      .lock(Rank(target), exclusive ? LockMode::exclusive : LockMode::shared,
            (assertions & MPI_MODE_NOCHECK) != 0)
      .release();
}

/// @param call  of Oriel's window, told about `target`
template <class Call>
void end_or_flush(Win& window, int target, bool ends, Call&& call) {
  if (target == MPI_PROC_NULL) return;
  window.check_rank(target);
  if (ends)
    window.epochs.unlock(target);
  else
    window.epochs.check_passive(target);
  call(Rank(target));
}

/// Many a program looks at its own memory by plain loads after a flush, without MPI_Win_sync: they
/// are not carried out before it.
void settle_loads() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace
}  // namespace oriel::mpi

using oriel::Rank;
using oriel::mpi::guarded;
using oriel::mpi::Win;

extern "C" int MPI_Win_fence(int assertions, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_fence(assertions, handle);
  return guarded(window, "MPI_Win_fence", [&] { oriel::mpi::fence(*window, assertions); });
}

extern "C" int MPI_Win_post(MPI_Group group, int assertions, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_post(group, assertions, handle);
  return guarded(window, "MPI_Win_post", [&] { oriel::mpi::post(*window, group, assertions); });
}

extern "C" int MPI_Win_start(MPI_Group group, int assertions, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_start(group, assertions, handle);
  return guarded(window, "MPI_Win_start", [&] { oriel::mpi::start(*window, group, assertions); });
}

extern "C" int MPI_Win_complete(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_complete(handle);
  return guarded(window, "MPI_Win_complete", [&] {
    window->epochs.complete();
    window->window.complete();
  });
}

extern "C" int MPI_Win_wait(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_wait(handle);
  return guarded(window, "MPI_Win_wait", [&] {
    window->epochs.wait();
    window->window.wait();
  });
}

extern "C" int MPI_Win_test(MPI_Win handle, int* flag) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_test(handle, flag);
  return guarded(window, "MPI_Win_test", [&] {
    window->epochs.check_exposed();
    const bool ended = window->window.test();
    if (ended) window->epochs.wait();
    *flag = ended ? 1 : 0;
  });
}

extern "C" int MPI_Win_lock(int type, int rank, int assertions, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_lock(type, rank, assertions, handle);
  return guarded(window, "MPI_Win_lock",
                 [&] { oriel::mpi::lock(*window, type, rank, assertions); });
}

extern "C" int MPI_Win_lock_all(int assertions, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_lock_all(assertions, handle);
  return guarded(window, "MPI_Win_lock_all", [&] {
    oriel::mpi::check_assertions(assertions, MPI_MODE_NOCHECK);
    window->epochs.lock_all();
    window->window.lock_all((assertions & MPI_MODE_NOCHECK) != 0).release();
  });
}

extern "C" int MPI_Win_unlock(int rank, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_unlock(rank, handle);
  return guarded(window, "MPI_Win_unlock", [&] {
    oriel::mpi::end_or_flush(*window, rank, true, [&](Rank at) { window->window.unlock(at); });
  });
}

extern "C" int MPI_Win_unlock_all(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_unlock_all(handle);
  return guarded(window, "MPI_Win_unlock_all", [&] {
    window->epochs.unlock_all();
    window->window.unlock_all();
  });
}

extern "C" int MPI_Win_flush(int rank, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_flush(rank, handle);
  return guarded(window, "MPI_Win_flush", [&] {
    oriel::mpi::end_or_flush(*window, rank, false, [&](Rank at) { window->window.flush(at); });
    oriel::mpi::settle_loads();
  });
}

extern "C" int MPI_Win_flush_local(int rank, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_flush_local(rank, handle);
  return guarded(window, "MPI_Win_flush_local", [&] {
    oriel::mpi::end_or_flush(*window, rank, false,
                             [&](Rank at) { window->window.flush_local(at); });
  });
}

extern "C" int MPI_Win_flush_all(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_flush_all(handle);
  return guarded(window, "MPI_Win_flush_all", [&] {
    window->epochs.check_passive(-1);
    window->window.flush_all();
    oriel::mpi::settle_loads();
  });
}

extern "C" int MPI_Win_flush_local_all(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_flush_local_all(handle);
  return guarded(window, "MPI_Win_flush_local_all", [&] {
    window->epochs.check_passive(-1);
    window->window.flush_local_all();
  });
}

extern "C" int MPI_Win_sync(MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_sync(handle);
  return guarded(window, "MPI_Win_sync", [&] { window->window.sync(); });
}
