#pragma once
/// MPI's rules for epochs [MPI-3.1, 11.5]: which call may follow which. Pure.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace oriel::mpi {

/// Oriel's own windows are always open; here is what MPI forbids on top. Every function throws a
/// Failure of MPI_ERR_RMA_SYNC and changes nothing if the call must not be made now. A call that
/// waits or sends is told about before it is made: if it fails, the epoch stays as it became.
///
/// States. Access: none, fence, start, lock (of targets), lock_all. Exposure: none, post. After a
/// fence that does not assert no_succeed, an epoch of the fence *may* begin: it does with the first
/// operation; until then locks and start may come instead, and when they have ended it may still.
/// The epoch of a fence exposes, too: it excludes post, both ways. Other access epochs do not.
/// Targets are ranks of the window: MPI_PROC_NULL, and what is no rank, is the caller's affair.
/// Threads: any. Cost: check_access() and check_passive() that allow take no mutex, but for the
/// first operation after a fence.
class Epochs {
 public:
  explicit Epochs(std::size_t ranks);

  /// An operation on `target`. Opens the epoch of a fence.
  void check_access(int target) {
    const auto access = access_.load(std::memory_order_relaxed);
    if (access == Access::fence || access == Access::lock_all || is_open(target)) [[likely]]
      return;
    check_closed(target);
  }
  /// Flushes and request forms: in a passive epoch alone. @param target  -1: any
  void check_passive(int target) const {
    const auto access = access_.load(std::memory_order_relaxed);
    if (access == Access::lock_all || (access == Access::lock && (target < 0 || is_open(target))))
        [[likely]]
      return;
    refuse_passive(target);
  }

  /// @param no_succeed  MPI_MODE_NOSUCCEED: no epoch begins. That MPI_MODE_NOPRECEDE is true is not
  ///                    checked.
  void fence(bool no_succeed);
  void start(std::span<const int> targets);
  void complete();
  void post();
  void wait();                 ///< MPI_Win_wait, and MPI_Win_test when it found the end
  void check_exposed() const;  ///< MPI_Win_test, before it looks
  void lock(int target);       ///< shared or exclusive: the rules are the same
  void unlock(int target);
  void lock_all();
  void unlock_all();
  /// MPI_Win_free: no epoch is open, but that of a fence.
  void check_none() const;
  /// Whether the rank is held locked by this process.
  [[nodiscard]] bool is_locked(int target) const noexcept {
    const auto access = access_.load(std::memory_order_relaxed);
    return access == Access::lock_all || (access == Access::lock && is_open(target));
  }

 private:
  enum class Access : std::uint8_t { none, may_fence, fence, start, lock, lock_all };

  [[nodiscard]] bool is_open(int target) const noexcept {
    return open_[static_cast<std::size_t>(target)].load(std::memory_order_relaxed);
  }
  void set_open(int target, bool open) noexcept {
    open_[static_cast<std::size_t>(target)].store(open, std::memory_order_relaxed);
  }
  void check_closed(int target);
  [[noreturn]] void refuse_passive(int target) const;
  void check_may_open(std::string_view kind) const;
  [[nodiscard]] Access closed() const noexcept;

  mutable std::mutex mutex_;
  std::atomic<Access> access_ = Access::none;
  std::vector<std::atomic<bool>> open_;  // those locked, or started, one by one
  bool after_fence_ = false;             // where closing leads: may_fence
  std::size_t locks_ = 0;                // targets that are locked one by one
  std::vector<int> started_;
  bool exposed_ = false;
};

}  // namespace oriel::mpi
