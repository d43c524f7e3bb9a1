#pragma once
/// The untyped window that Window<T> is made of: everything in bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <oriel/epochs.hpp>
#include <oriel/export.hpp>
#include <oriel/layout.hpp>
#include <oriel/mapped_parts.hpp>
#include <oriel/operations.hpp>
#include <oriel/request.hpp>
#include <oriel/shared_bytes.hpp>
#include <oriel/team.hpp>
#include <oriel/window_counters.hpp>
#include <oriel/window_options.hpp>

namespace oriel {

namespace window {
class WindowState;
}

/// A place in a target's part, and who asks for it.
struct TargetBytes {
  std::string_view operation{};  ///< for messages
  Rank rank{};
  std::size_t offset = 0;  ///< bytes; in a dynamic window the address in the target's process
};

/// An accumulate, with or without old values [MPI_Accumulate, MPI_Get_accumulate].
struct Accumulation {
  ElementType type{};
  OpCode op{};
  const void* operands = nullptr;  ///< may be null for no_op
  const Layout& operands_layout;
  void* results = nullptr;  ///< gets the old values; null: not wanted
  const Layout& results_layout;
  const Layout& target_layout;
};

/// A compare-and-swap [MPI_Compare_and_swap]: of one element, compared bit by bit.
struct Swap {
  ElementType type{};
  const void* compare = nullptr;
  const void* swap = nullptr;
  void* result = nullptr;
};

/// See Window<T> for what the calls mean; here offsets and lengths are bytes, and layouts count
/// elements of the size given beside them.
class ORIEL_API WindowBytes {
 public:
  [[nodiscard]] static WindowBytes allocate(const Team& team, std::size_t bytes,
                                            const WindowOptions& options = {});
  [[nodiscard]] static WindowBytes create(const Team& team, std::span<std::byte> memory,
                                          const WindowOptions& options = {});
  [[nodiscard]] static WindowBytes allocate_shared(const Team& team, std::size_t bytes,
                                                   const WindowOptions& options = {});
  [[nodiscard]] static WindowBytes dynamic(const Team& team, const WindowOptions& options = {});
  WindowBytes(WindowBytes&&) noexcept;
  WindowBytes& operator=(WindowBytes&&) noexcept;
  ~WindowBytes();

  /// Collective: completes this rank's operations, waits for all ranks, releases everything
  /// [MPI_Win_free]. Afterwards every call throws window_freed. The destructor does the same, but
  /// logs errors instead of throwing them; if a peer is lost, neither waits for it. Locks still
  /// held are given back, an access still open is completed.
  void free();
  std::size_t attach(std::span<std::byte> memory, std::size_t alignment = 1);
  void detach(std::span<std::byte> memory);

  [[nodiscard]] std::span<std::byte> local() const;
  [[nodiscard]] std::span<std::byte> shared_span(Rank target) const;
  [[nodiscard]] std::size_t size_bytes(Rank target) const;
  [[nodiscard]] const Team& team() const;
  [[nodiscard]] WindowKind kind() const;
  [[nodiscard]] const WindowOptions& options() const;
  /// Who carries out atomics here; describe() adds why. Threads: any. Cost: none.
  [[nodiscard]] CoherenceDomain coherence() const;
  /// What this rank's operations have cost so far. Threads: any. Cost: none.
  [[nodiscard]] WindowCounters counters() const;
  /// A readable account: kind, promises, sizes, coherence domain and reason, path to every peer.
  /// Threads: any.
  [[nodiscard]] std::string describe() const;

  void put(const void* source, std::size_t bytes, const TargetBytes& target) {
    std::byte* const there = find_bytes(target.rank, target.offset, bytes);
    if (there == nullptr) return put_by_way(source, bytes, target.rank, target.offset);
    detail::store_bytes(there, static_cast<const std::byte*>(source), bytes);
  }
  void get(void* destination, std::size_t bytes, const TargetBytes& target) {
    const std::byte* const there = find_bytes(target.rank, target.offset, bytes);
    if (there == nullptr) return get_by_way(destination, bytes, target.rank, target.offset);
    detail::load_bytes(static_cast<std::byte*>(destination), there, bytes);
  }
  /// get(), and waits until it is locally complete.
  void get_now(void* destination, std::size_t bytes, const TargetBytes& target);
  [[nodiscard]] Request rput(const void* source, std::size_t bytes, const TargetBytes& target);
  [[nodiscard]] Request rget(void* destination, std::size_t bytes, const TargetBytes& target);

  void put(const void* source, const Layout& from, const TargetBytes& target, const Layout& to,
           std::size_t element_bytes);
  void get(void* destination, const Layout& to, const TargetBytes& target, const Layout& from,
           std::size_t element_bytes);
  [[nodiscard]] Request rput(const void* source, const Layout& from, const TargetBytes& target,
                             const Layout& to, std::size_t element_bytes);
  [[nodiscard]] Request rget(void* destination, const Layout& to, const TargetBytes& target,
                             const Layout& from, std::size_t element_bytes);

  void accumulate(const Accumulation& what, const TargetBytes& target);
  /// The same, of elements that lie side by side everywhere.
  void accumulate(ElementType type, OpCode op, const void* operands, void* results,
                  std::size_t count, const TargetBytes& target);
  void accumulate_now(ElementType type, OpCode op, const void* operands, void* results,
                      std::size_t count, const TargetBytes& target);
  [[nodiscard]] Request raccumulate(const Accumulation& what, const TargetBytes& target);
  void compare_and_swap(const Swap& what, const TargetBytes& target);
  void compare_and_swap_now(const Swap& what, const TargetBytes& target);
  [[nodiscard]] Request rcompare_and_swap(const Swap& what, const TargetBytes& target);

  void put_notify(const void* source, std::size_t bytes, const TargetBytes& target,
                  std::size_t slot);
  void get_notify(void* destination, std::size_t bytes, const TargetBytes& target,
                  std::size_t slot);
  void accumulate_notify(const Accumulation& what, const TargetBytes& target, std::size_t slot);

  /// Waits until `count` notifications more than those waited for before have arrived in this
  /// rank's slot: their data is there. Each counts once.
  ///
  /// Errors, of all of these: out_of_range (slot), peer_lost. Threads: any, one per slot. Cost: no
  /// message; waits on this rank's own memory.
  void wait_notify(std::size_t slot, std::uint64_t count = 1);
  /// Whether they have arrived; then they count as waited for.
  [[nodiscard]] bool test_notify(std::size_t slot, std::uint64_t count = 1);
  /// Waits for one notification in any of `slots` slots from `first` on, and returns the slot.
  [[nodiscard]] std::size_t wait_notify_any(std::size_t first, std::size_t slots);
  /// The slot that one was found in, or none.
  [[nodiscard]] std::optional<std::size_t> test_notify_any(std::size_t first, std::size_t slots);
  /// Waits for `count` notifications in each of the slots.
  void wait_notify_all(std::size_t first, std::size_t slots, std::uint64_t count = 1);
  /// Notifications that have arrived and not been waited for.
  [[nodiscard]] std::uint64_t pending_notifications(std::size_t slot) const;
  /// Forgets them; returns how many they were.
  std::uint64_t reset_notify(std::size_t slot);

  /// Waits until this rank's operations on `target` are remotely complete [MPI_Win_flush]: whatever
  /// this thread does next in windows, or stores, comes after them. Its own plain loads of window
  /// memory do so after sync().
  /// Errors: peer_lost, transport_failed. Threads: any. Cost: nothing outstanding: none.
  void flush(Rank target) {
    if (!state_ || !state_->is_in_place(target)) return wait_for(target);
    detail::complete_stores();
  }
  /// The same for all targets [MPI_Win_flush_all].
  void flush_all() {
    if (!state_ || !state_->is_in_place()) return wait_for_all();
    detail::complete_stores();
  }
  /// Waits until this rank's operations on `target` are locally complete [MPI_Win_flush_local].
  /// Cheaper than flush() where the data was copied on its way out.
  void flush_local(Rank target) {
    if (!state_ || !state_->is_in_place(target)) wait_locally_for(target);
  }
  /// The same for all targets [MPI_Win_flush_local_all].
  void flush_local_all();
  /// Orders this thread's plain loads and stores of window memory before and after [MPI_Win_sync].
  /// Threads: any. Cost: a memory barrier.
  void sync();

  /// Collective: all operations of all ranks before it are remotely complete when it returns, on
  /// every rank [MPI_Win_fence].
  ///
  /// Errors: peer_lost, transport_failed; when one rank fails here, every rank does, and nobody
  /// hangs. Threads: one-at-a-time per window. Cost: flush_all(), unless no_precede is asserted,
  /// and ceil(log2(team size)) small messages.
  void fence(FenceAssertion assertions = FenceAssertion::none);

  /// Takes the lock of the target's part: as the only one, or together with other shared holders
  /// [MPI_Win_lock]. Operations need no lock; locks order those who take them. First come, first
  /// served: nobody starves.
  ///
  /// Completion: the lock is held on return; the guard gives it back, or unlock() does.
  /// @param no_check  the program knows that nobody holds a conflicting lock: no message
  /// Errors: wrong_epoch (held already by this rank, or being taken by another thread of it),
  /// peer_lost, unsupported (a device without atomics). Threads: any. Cost: uncontended 1 atomic
  /// (shared) or 2 (exclusive); else waits on this rank's own memory, and is handed the lock.
  [[nodiscard]] LockGuard lock(Rank target, LockMode mode, bool no_check = false);
  /// Takes a shared lock of all parts [MPI_Win_lock_all]. Cost: uncontended 1 atomic, whatever the
  /// number of ranks.
  [[nodiscard]] LockGuard lock_all(bool no_check = false);
  /// Completes this rank's operations on the target, then gives the lock back [MPI_Win_unlock].
  /// Errors: wrong_epoch (not held). Threads: any. Cost: flush() and as many atomics as taking it.
  void unlock(Rank target);
  /// The same for lock_all() [MPI_Win_unlock_all].
  void unlock_all();

  /// Opens this rank's part to the operations of `origins` until wait() [MPI_Win_post].
  /// Completion: local. Never waits for the origins.
  /// Errors: wrong_epoch (posted already), invalid_rank, invalid_argument (a rank twice). Threads:
  /// one-at-a-time per window. Cost: one small message per origin.
  void post(std::span<const Rank> origins);
  /// Waits until all `targets` have opened their parts to this rank [MPI_Win_start].
  /// Errors: wrong_epoch (started already), peer_lost, as post(). Cost: no message; waits on this
  /// rank's own memory.
  void start(std::span<const Rank> targets);
  /// Ends what start() began: this rank's operations on the targets are locally complete on return,
  /// and remotely when the target's wait() returns [MPI_Win_complete].
  /// Errors: wrong_epoch (not started), peer_lost, transport_failed. Cost: one small message per
  /// target, behind the data.
  void complete();
  /// Waits until all origins of post() have completed: their data is in this rank's part
  /// [MPI_Win_wait].
  /// Errors: wrong_epoch (not posted), peer_lost. Cost: no message; waits on own memory.
  void wait();
  /// The same without waiting: whether the epoch has ended [MPI_Win_test].
  [[nodiscard]] bool test();

 protected:
  /// What is mapped here; null when the window is gone.
  [[nodiscard]] const window::MappedParts* mapped() const noexcept { return state_.get(); }
  /// Where the bytes of a part are mapped here, or null.
  [[nodiscard]] std::byte* find_bytes(Rank target, std::size_t offset,
                                      std::size_t bytes) const noexcept {
    return state_ ? state_->find(target, offset, bytes) : nullptr;
  }
  /// put() and get() of what is not mapped, or not there at all.
  void put_by_way(const void* source, std::size_t bytes, Rank target, std::size_t offset);
  void get_by_way(void* destination, std::size_t bytes, Rank target, std::size_t offset);

 private:
  explicit WindowBytes(std::unique_ptr<window::MappedParts> state) noexcept;
  [[nodiscard]] window::WindowState& checked(std::string_view operation) const;
  [[noreturn]] static void throw_freed(std::string_view operation);
  void wait_for(Rank target);
  void wait_for_all();
  void wait_locally_for(Rank target);
  std::unique_ptr<window::MappedParts> state_;  // a WindowState
};

namespace window {
[[noreturn]] ORIEL_API void throw_too_many(std::string_view operation, std::size_t count,
                                           std::size_t element_bytes);

/// count * size, or the largest number when 64 bits do not hold it: no memory is that large, which
/// a collective call can then say on all ranks alike.
[[nodiscard]] constexpr std::size_t saturated_bytes(std::size_t count, std::size_t element_bytes) {
  constexpr std::size_t kMost = ~std::size_t{0};
  return count > kMost / element_bytes ? kMost : count * element_bytes;
}

/// count * size, or a clear ErrorCode::out_of_range that names `operation` when 64 bits do not hold
/// it.
[[nodiscard]] inline std::size_t checked_bytes(std::string_view operation, std::size_t count,
                                               std::size_t element_bytes) {
  if (count > ~std::size_t{0} / element_bytes) throw_too_many(operation, count, element_bytes);
  return count * element_bytes;
}

/// A container that would be gone when the transfer reads its elements: no span, and nobody's.
template <class Values, class T>
concept Temporary =
    !std::is_lvalue_reference_v<Values> && !std::ranges::enable_borrowed_range<Values> &&
    std::is_constructible_v<std::span<const T>, const Values&>;

/// Errors: out_of_range, when `layout` reaches past the `elements` of the origin's memory.
ORIEL_API void check_origin(std::string_view operation, const Layout& layout, std::size_t elements);
}  // namespace window

}  // namespace oriel
