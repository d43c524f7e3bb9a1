#pragma once
/// Windows: memory that every rank of a team exposes, and the one-sided operations on it.
///
///     auto win = oriel::Window<double>::allocate(world, n);   // collective
///     win.put(std::span{row}, right, 0);                      // my row into right's window
///     win.fence();                                            // everyone's puts are there
///
/// A window is open from creation to free: operations are legal at any time; flush, fence, unlock,
/// complete and the blocking forms order and complete them. *Locally complete*: the origin's buffer
/// may be reused (for a get: the data is there). *Remotely complete*: the bytes are in the target's
/// memory, and every later access by anyone sees them.
///
/// Errors of every operation: out_of_range (past the *target's* size), invalid_rank, window_freed;
/// thrown at the call, which then has done nothing. A failed transfer or a dead peer throws
/// peer_lost or transport_failed at the next synchronisation with that peer.
/// Threads, of everything but creation and the collective calls: any. Over verbs, threads other
/// than the one that started the runtime put and get by connections of their own (ORIEL_LANES).

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <oriel/shared_bytes.hpp>
#include <oriel/window_atomics.hpp>
#include <oriel/window_bytes.hpp>

namespace oriel {

/// What flush, fence, lock, post/start/complete/wait and notifications do stands in WindowBytes.
template <class T>
class Window : private WindowAtomics<T> {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "a window's elements travel as bytes: T must be trivially copyable and not const");

 public:
  /// Collective: creates a window over zeroed memory that Oriel allocates, near this rank's cores
  /// [MPI_Win_allocate]. The fastest kind: ranks of one machine reach each other's part by plain
  /// loads and stores.
  ///
  /// Completion: on return the window is usable from every rank to every rank.
  /// @param count  elements in this rank's part; may differ from rank to rank and be 0
  /// Errors: out_of_memory, locked_memory_limit, registration_failed on the rank concerned;
  /// peer_failed on all others; option_mismatch. Threads: one-at-a-time per team. Cost: two
  /// allgathers and a mapping per peer on the node.
  [[nodiscard]] static Window allocate(const Team& team, std::size_t count,
                                       const WindowOptions& options = {}) {
    return WindowBytes::allocate(team, window::saturated_bytes(count, sizeof(T)), options);
  }

  /// Collective: creates a window over memory of the program's own, which stays the program's and
  /// must outlive the window [MPI_Win_create]. Windows may overlap. Otherwise like allocate(); on
  /// one machine, data moves by process_vm_readv/writev, and atomics are carried out by a thread of
  /// the target that sleeps until one comes.
  ///
  /// Errors: as allocate(), and invalid_argument when the memory is not mapped or not writable.
  [[nodiscard]] static Window create(const Team& team, std::span<T> memory,
                                     const WindowOptions& options = {}) {
    return WindowBytes::create(team, std::as_writable_bytes(memory), options);
  }

  /// Collective: like allocate(), over a team whose ranks share a machine (Runtime::node()), and
  /// every part can be loaded from and stored to by all of them [MPI_Win_allocate_shared]. Parts
  /// follow each other without gaps unless WindowOptions::contiguous says otherwise. Always by
  /// shared memory, whatever ORIEL_FABRIC says.
  ///
  /// Errors: as allocate(), and unsupported when the ranks do not share a machine.
  [[nodiscard]] static Window allocate_shared(const Team& team, std::size_t count,
                                              const WindowOptions& options = {}) {
    return WindowBytes::allocate_shared(team, window::saturated_bytes(count, sizeof(T)), options);
  }

  /// Collective: a window without memory, to which each rank attaches its own by attach()
  /// [MPI_Win_create_dynamic]. Offsets in operations are what the target's attach() returned, plus
  /// elements.
  [[nodiscard]] static Window dynamic(const Team& team, const WindowOptions& options = {}) requires(
      std::has_single_bit(sizeof(T))) {
    return WindowBytes::dynamic(team, options);
  }

  /// Adds memory of the program's own to this rank's part of a dynamic window, until detach() or
  /// free [MPI_Win_attach]. Not collective.
  ///
  /// Completion: on return peers may use it, once they know the offset.
  /// @return the offset of its first element for all ranks: its address, counted in elements
  /// Errors: invalid_argument (overlaps attached memory, not mapped, not a dynamic window),
  /// misaligned (not at a multiple of sizeof(T)), out_of_memory (too many regions),
  /// registration_failed. Threads: any. Cost: no message; registers memory with the device.
  std::size_t attach(std::span<T> memory) {
    return WindowBytes::attach(std::as_writable_bytes(memory), sizeof(T)) / sizeof(T);
  }
  /// Takes memory away that attach() added, as a whole [MPI_Win_detach]. Whoever uses it later gets
  /// out_of_range; operations under way are the program's to end before.
  /// Errors: invalid_argument (never attached so). Threads: any. Cost: no message.
  void detach(std::span<T> memory) { WindowBytes::detach(std::as_writable_bytes(memory)); }

  /// This rank's own part. Plain access is legal whenever no unfinished operation touches the same
  /// bytes. Empty for dynamic windows. Threads: any. Cost: none.
  [[nodiscard]] std::span<T> local() const { return typed(WindowBytes::local()); }

  /// The part of `target` in this rank's own address space, for plain loads and stores
  /// [MPI_Win_shared_query]. What others store is seen after sync() and a synchronisation of the
  /// program's own.
  /// Errors: invalid_rank, unsupported (not a shared window, nor mapped here). Threads: any. Cost:
  /// none.
  [[nodiscard]] std::span<T> shared_span(Rank target) const {
    return typed(WindowBytes::shared_span(target));
  }

  /// Elements in the part of `target`. Errors: invalid_rank. Threads: any. Cost: none.
  [[nodiscard]] std::size_t size(Rank target) const {
    return WindowBytes::size_bytes(target) / sizeof(T);
  }

  using WindowBytes::coherence;
  using WindowBytes::counters;
  using WindowBytes::describe;
  using WindowBytes::free;
  using WindowBytes::kind;
  using WindowBytes::options;
  using WindowBytes::team;

  // ---- put and get

  /// Starts writing `values` to the target's part [MPI_Put].
  ///
  /// Completion: `values` may be reused after flush_local(); the target sees them after flush(),
  /// fence(), unlock() or complete(). So they must live until then: temporaries do not compile. A
  /// single aligned element of 1, 2, 4 or 8 bytes is never seen half-written on one machine. No
  /// size is too large.
  /// @param offset  first element written, in elements
  /// Threads: any. Cost: no message of its own is waited for, but may wait for queue room.
  void put(std::span<const T> values, Rank target, std::size_t offset) {
    store(values, target, offset);
  }
  /// The same for one element, which is copied: reusable at once.
  void put(const T& value, Rank target, std::size_t offset) {
    store(std::span(&value, 1), target, offset);
    flush_local(target);
  }
  /// The same for data that is not contiguous: elements of `values` named by `from`, to those named
  /// by `to` from `offset` on, in their order.
  /// Errors: also invalid_argument, if the layouts do not name equally many.
  void put(std::span<const T> values, const Layout& from, Rank target, std::size_t offset,
           const Layout& to) {
    window::check_origin("put", from, values.size());
    WindowBytes::put(values.data(), from, at("put", target, offset), to, sizeof(T));
  }
  template <window::Temporary<T> Values, class... Rest>
  void put(Values&& values, Rest&&... rest) = delete;

  /// Starts reading from the target's part into `destination` [MPI_Get].
  ///
  /// Completion: the data is there after flush_local() or flush(). Threads, Cost: as put().
  void get(std::span<T> destination, Rank target, std::size_t offset) {
    const std::size_t bytes = destination.size_bytes();
    if (const std::byte* const there = this->find(target, offset, bytes)) {
      return detail::load_bytes(std::as_writable_bytes(destination).data(), there, bytes);
    }
    WindowBytes::get_by_way(destination.data(), bytes, target, at("get", target, offset).offset);
  }
  void get(std::span<T> destination, const Layout& to, Rank target, std::size_t offset,
           const Layout& from) {
    window::check_origin("get", to, destination.size());
    WindowBytes::get(destination.data(), to, at("get", target, offset), from, sizeof(T));
  }
  /// Reads one element and waits for it.
  [[nodiscard]] T get(Rank target, std::size_t offset) {
    alignas(T) std::byte raw[sizeof(T)];
    if (const std::byte* const there = this->find(target, offset, sizeof(T))) {
      detail::load_bytes(raw, there, sizeof(T));
    } else {
      WindowBytes::get_now(raw, sizeof(T), at("get", target, offset));
    }
    return std::bit_cast<T>(raw);
  }

  /// put() and get() with a completion of their own [MPI_Rput, MPI_Rget].
  [[nodiscard]] Request rput(std::span<const T> values, Rank target, std::size_t offset) {
    return WindowBytes::rput(values.data(), values.size_bytes(), at("rput", target, offset));
  }
  [[nodiscard]] Request rput(std::span<const T> values, const Layout& from, Rank target,
                             std::size_t offset, const Layout& to) {
    window::check_origin("rput", from, values.size());
    return WindowBytes::rput(values.data(), from, at("rput", target, offset), to, sizeof(T));
  }
  template <window::Temporary<T> Values, class... Rest>
  Request rput(Values&& values, Rest&&... rest) = delete;
  [[nodiscard]] Request rget(std::span<T> destination, Rank target, std::size_t offset) {
    return WindowBytes::rget(destination.data(), destination.size_bytes(),
                             at("rget", target, offset));
  }
  [[nodiscard]] Request rget(std::span<T> destination, const Layout& to, Rank target,
                             std::size_t offset, const Layout& from) {
    window::check_origin("rget", to, destination.size());
    return WindowBytes::rget(destination.data(), to, at("rget", target, offset), from, sizeof(T));
  }

  // ---- accumulates; see WindowAtomics

  using WindowAtomics<T>::accumulate;
  using WindowAtomics<T>::compare_and_swap;
  using WindowAtomics<T>::fetch_add;
  using WindowAtomics<T>::fetch_and_op;
  using WindowAtomics<T>::get_accumulate;
  using WindowAtomics<T>::raccumulate;
  using WindowAtomics<T>::rcompare_and_swap;
  using WindowAtomics<T>::rfetch_add;
  using WindowAtomics<T>::rfetch_and_op;
  using WindowAtomics<T>::rget_accumulate;

  // ---- notified access

  /// put() whose arrival the target can wait for: the target's slot counts one more once the data
  /// is there. Ordered after this rank's earlier operations on the target, too.
  /// @param slot  below WindowOptions::notification_slots
  /// Errors: also out_of_range (slot), unsupported (a device without atomics). Cost: one message
  /// more, but no doorbell more.
  void put_notify(std::span<const T> values, Rank target, std::size_t offset, std::size_t slot) {
    WindowBytes::put_notify(values.data(), values.size_bytes(), at("put_notify", target, offset),
                            slot);
  }
  template <window::Temporary<T> Values, class... Rest>
  void put_notify(Values&& values, Rest&&... rest) = delete;
  /// get() that tells the target that its data has been read.
  void get_notify(std::span<T> destination, Rank target, std::size_t offset, std::size_t slot) {
    WindowBytes::get_notify(destination.data(), destination.size_bytes(),
                            at("get_notify", target, offset), slot);
  }
  /// accumulate() with a notification.
  template <class Op>
  void accumulate_notify(std::span<const T> values, Rank target, std::size_t offset, Op operation,
                         std::size_t slot) requires Accumulable<T, Op> {
    const Layout all = Layout::contiguous(values.size());
    WindowBytes::accumulate_notify(what(operation, values.data(), all, nullptr, all, all),
                                   at("accumulate_notify", target, offset), slot);
  }

  using WindowBytes::pending_notifications;
  using WindowBytes::reset_notify;
  using WindowBytes::test_notify;
  using WindowBytes::test_notify_any;
  using WindowBytes::wait_notify;
  using WindowBytes::wait_notify_all;
  using WindowBytes::wait_notify_any;

  // ---- synchronisation

  using WindowBytes::fence;
  using WindowBytes::flush;
  using WindowBytes::flush_all;
  using WindowBytes::flush_local;
  using WindowBytes::flush_local_all;
  using WindowBytes::sync;

  using WindowBytes::lock;
  using WindowBytes::lock_all;
  using WindowBytes::unlock;
  using WindowBytes::unlock_all;

  using WindowBytes::complete;
  using WindowBytes::post;
  using WindowBytes::start;
  using WindowBytes::test;
  using WindowBytes::wait;

 private:
  using WindowAtomics<T>::at;
  using WindowAtomics<T>::what;

  Window(WindowBytes bytes) noexcept
      : WindowAtomics<T>(std::move(bytes)) {}  // NOLINT: for the factories

  void store(std::span<const T> values, Rank target, std::size_t offset) {
    const std::size_t bytes = values.size_bytes();
    if (std::byte* const there = this->find(target, offset, bytes)) {
      return detail::store_bytes(there, std::as_bytes(values).data(), bytes);
    }
    WindowBytes::put_by_way(values.data(), bytes, target, at("put", target, offset).offset);
  }
  [[nodiscard]] static std::span<T> typed(std::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

}  // namespace oriel
