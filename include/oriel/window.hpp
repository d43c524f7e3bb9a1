#pragma once
/// Windows: memory that every rank of a team exposes, and the one-sided operations on it.
///
///     auto win = oriel::Window<double>::allocate(world, n);   // collective
///     win.put(std::span{row}, right, 0);                      // my row into right's window
///     win.fence();                                            // everyone's puts are there
///
/// A window is open from creation to free: operations are legal at any time; flush, fence and the
/// blocking forms order and complete them. *Locally complete*: the origin's buffer may be reused
/// (for a get: the data is there). *Remotely complete*: the bytes are in the target's memory, and
/// every later access by anyone sees them.
///
/// Errors of every operation: out_of_range (past the *target's* size), invalid_rank, misaligned
/// (atomics), window_freed; thrown at the call, which then has done nothing. A failed transfer or a
/// dead peer throws peer_lost or transport_failed at the next synchronisation with that peer.

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include <oriel/window_bytes.hpp>

namespace oriel {

/// Types that 64-bit fetch_add adds: integers of 8 bytes.
template <class T>
concept FetchAddable = std::integral<T> && sizeof(T) == 8;

/// Types that 64-bit compare_and_swap compares, bit by bit: 8 bytes, trivially copyable (double
/// included: -0.0 differs from 0.0).
template <class T>
concept Swappable = std::is_trivially_copyable_v<T> && sizeof(T) == 8;

template <class T>
class Window {
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
  /// peer_failed on all others. Threads: one-at-a-time per team. Cost: two allgathers and a mapping
  /// per peer on the node.
  [[nodiscard]] static Window allocate(const Team& team, std::size_t count) {
    return Window(WindowBytes::allocate(team, window::saturated_bytes(count, sizeof(T))));
  }

  /// Collective: creates a window over memory of the program's own, which stays the program's and
  /// must outlive the window [MPI_Win_create]. Windows may overlap. Otherwise like allocate(); on
  /// one machine, data moves by process_vm_readv/writev, and atomics are carried out by a thread of
  /// the target that sleeps until one comes.
  ///
  /// Errors: as allocate(), and invalid_argument when the memory is not mapped or not writable.
  [[nodiscard]] static Window create(const Team& team, std::span<T> memory) {
    return Window(WindowBytes::create(team, std::as_writable_bytes(memory)));
  }

  /// Collective: completes this rank's operations, waits for all ranks, releases everything
  /// [MPI_Win_free]. Afterwards every call throws window_freed. The destructor does the same, but
  /// logs errors instead of throwing them; if a peer is lost, neither waits for it.
  void free() { bytes_.free(); }

  /// This rank's own part. Plain access is legal whenever no unfinished operation touches the same
  /// bytes. Threads: any. Cost: none.
  [[nodiscard]] std::span<T> local() const {
    const auto bytes = bytes_.local();
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Elements in the part of `target`. Errors: invalid_rank. Threads: any. Cost: none.
  [[nodiscard]] std::size_t size(Rank target) const {
    return bytes_.size_bytes(target) / sizeof(T);
  }

  [[nodiscard]] const Team& team() const { return bytes_.team(); }

  /// Who carries out atomics here; describe() adds why. Threads: any. Cost: none.
  [[nodiscard]] CoherenceDomain coherence() const { return bytes_.coherence(); }

  /// A readable account: kind, sizes, coherence domain and reason, path to every peer. Threads:
  /// any.
  [[nodiscard]] std::string describe() const { return bytes_.describe(); }

  /// Starts writing `values` to the target's part [MPI_Put].
  ///
  /// Completion: `values` may be reused after flush_local(); the target sees them after flush() or
  /// fence().
  /// @param offset  first element written, in elements
  /// Threads: one-at-a-time per runtime. Cost: no message of its own is waited for, but may wait
  /// for queue room.
  void put(std::span<const T> values, Rank target, std::size_t offset) {
    bytes_.put(values.data(), values.size_bytes(), target, offset_bytes("put", offset));
  }
  /// The same for one element, which is copied: reusable at once.
  void put(const T& value, Rank target, std::size_t offset) {
    bytes_.put(&value, sizeof(T), target, offset_bytes("put", offset));
    bytes_.flush_local(target);
  }

  /// Starts reading from the target's part into `destination` [MPI_Get].
  ///
  /// Completion: the data is there after flush_local() or flush(). Threads, Cost: as put().
  void get(std::span<T> destination, Rank target, std::size_t offset) {
    bytes_.get(destination.data(), destination.size_bytes(), target, offset_bytes("get", offset));
  }
  /// Reads one element and waits for it.
  [[nodiscard]] T get(Rank target, std::size_t offset) {
    alignas(T) std::byte raw[sizeof(T)];
    bytes_.get_now(raw, sizeof(T), target, offset_bytes("get", offset));
    return std::bit_cast<T>(raw);
  }

  /// Atomically adds `operand` to the element and returns its old value [MPI_Fetch_and_op,
  /// MPI_SUM].
  ///
  /// Atomic with every other atomic of any rank on this window, this rank's own included (not with
  /// plain stores). Wraps around. Completion: on return, remotely. Threads: one-at-a-time per
  /// runtime. Cost: one round trip.
  T fetch_add(T operand, Rank target, std::size_t offset) requires FetchAddable<T> {
    return std::bit_cast<T>(bytes_.fetch_add_now(std::bit_cast<std::uint64_t>(operand), target,
                                                 offset_bytes("fetch_add", offset)));
  }
  /// Starts the same; `result` holds the old value after flush_local() or flush().
  void fetch_add(T operand, T& result, Rank target, std::size_t offset) requires FetchAddable<T> {
    bytes_.fetch_add(std::bit_cast<std::uint64_t>(operand),
                     reinterpret_cast<std::uint64_t&>(result), target,
                     offset_bytes("fetch_add", offset));
  }

  /// Atomically stores `swap` in the element if it equals `compare`, bit by bit, and returns the
  /// old value [MPI_Compare_and_swap]. Completion, Threads, Cost: as fetch_add().
  T compare_and_swap(T compare, T swap, Rank target, std::size_t offset) requires Swappable<T> {
    return std::bit_cast<T>(bytes_.compare_and_swap_now(std::bit_cast<std::uint64_t>(compare),
                                                        std::bit_cast<std::uint64_t>(swap), target,
                                                        offset_bytes("compare_and_swap", offset)));
  }
  /// Starts the same; `result` holds the old value after flush_local() or flush().
  void compare_and_swap(T compare, T swap, T& result, Rank target,
                        std::size_t offset) requires Swappable<T> {
    bytes_.compare_and_swap(
        std::bit_cast<std::uint64_t>(compare), std::bit_cast<std::uint64_t>(swap),
        reinterpret_cast<std::uint64_t&>(result), target, offset_bytes("compare_and_swap", offset));
  }

  /// Waits until this rank's operations on `target` are remotely complete [MPI_Win_flush].
  /// Errors: peer_lost, transport_failed. Threads: one-at-a-time per runtime. Cost: nothing
  /// outstanding: none.
  void flush(Rank target) { bytes_.flush(target); }
  /// The same for all targets [MPI_Win_flush_all].
  void flush_all() { bytes_.flush_all(); }
  /// Waits until this rank's operations on `target` are locally complete [MPI_Win_flush_local].
  /// Cheaper than flush() where the data was copied on its way out.
  void flush_local(Rank target) { bytes_.flush_local(target); }
  /// The same for all targets [MPI_Win_flush_local_all].
  void flush_local_all() { bytes_.flush_local_all(); }

  /// Collective: all operations of all ranks before it are remotely complete when it returns, on
  /// every rank [MPI_Win_fence].
  ///
  /// Errors: peer_lost, transport_failed; when one rank fails here, every rank does, and nobody
  /// hangs. Threads: one-at-a-time per runtime. Cost: flush_all() and ceil(log2(team size)) small
  /// messages.
  void fence() { bytes_.fence(); }

 private:
  explicit Window(WindowBytes bytes) noexcept : bytes_(std::move(bytes)) {}
  [[nodiscard]] static std::size_t offset_bytes(std::string_view operation, std::size_t offset) {
    return window::checked_bytes(operation, offset, sizeof(T));
  }

  WindowBytes bytes_;
};

}  // namespace oriel
