#pragma once
/// MPI's rules for epochs [MPI-3.1, 11.5]: which call may follow which. Pure.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace oriel::mpi {

/// Oriel's own windows are always open; here is what MPI forbids on top. Every function throws a
/// Failure of MPI_ERR_RMA_SYNC and changes nothing if the call must not be made now. A call that
/// waits or sends is told about before it is made: if it fails, the epoch stays as it became.
///
/// States. Access: none, fence, start, lock (of targets), lock_all. Exposure: none, post. After a
/// fence that does not assert no_succeed, an epoch of the fence *may* begin: it does with the first
/// operation; until then locks and start may come instead.
/// Threads: any; check_access() takes no lock.
class Epochs {
 public:
  explicit Epochs(std::size_t ranks);

  /// An operation on `target`. Opens the epoch of a fence.
  void check_access(int target) {
    const auto access = access_.load(std::memory_order_relaxed);
    if (access == Access::fence || access == Access::lock_all ||
        (access != Access::none && open_[static_cast<std::size_t>(target)].load(
                                       std::memory_order_relaxed) != 0)) [[likely]]
      return;
    check_closed(target);
  }
  /// Flushes and request forms: in a passive epoch alone. @param target  -1: any
  void check_passive(int target) const;

  void fence(bool no_precede, bool no_succeed);
  void start(std::span<const int> targets);
  void complete();
  void post();
  void wait();             ///< MPI_Win_wait, and MPI_Win_test when it found the end
  void check_exposed() const;  ///< MPI_Win_test, before it looks
  /// @param exclusive  MPI_LOCK_EXCLUSIVE
  void lock(int target, bool exclusive);
  void unlock(int target);
  void lock_all();
  void unlock_all();
  /// MPI_Win_free: no epoch is open, but that of a fence.
  void check_none() const;
  /// Whether the rank is held locked by this process.
  [[nodiscard]] bool is_locked(int target) const noexcept;

 private:
  enum class Access : std::uint8_t { none, may_fence, fence, start, lock, lock_all };
  void check_closed(int target);

  mutable std::mutex mutex_;
  std::atomic<Access> access_ = Access::none;
  std::vector<std::atomic<std::uint8_t>> open_;  // by target: locked, or started
  bool after_fence_ = false;  // where lock and start lead back to: may_fence
  std::size_t locks_ = 0;
  bool exposed_ = false;
};

}  // namespace oriel::mpi
