#pragma once
/// The account of one queue pair: every work request that was asked for and is not known to be
/// done. Pure logic.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/completion.hpp"

namespace oriel::verbs {

inline constexpr std::uint32_t kQueueDepth = 256;
inline constexpr std::uint32_t kSignalEvery = 64;
static_assert(kQueueDepth >= 2 * kSignalEvery,
              "a signalled request must come back before the queue is full");
static_assert((kQueueDepth & (kQueueDepth - 1)) == 0, "the ring is indexed by masking");

/// What was asked for, in the words of the interface (for messages) …
enum class Operation : std::uint8_t { put, get, fetch_add, compare_and_swap, signal, flush, probe };
/// … and what the device is to do.
enum class Opcode : std::uint8_t { write, read, fetch_add, compare_and_swap };

[[nodiscard]] constexpr std::string_view to_string(Operation operation) noexcept {
  constexpr std::array<std::string_view, 7> kNames = {
      "put", "get", "fetch_add", "compare_and_swap", "signal", "flush", "probe"};
  return kNames[static_cast<std::size_t>(operation)];
}

/// What a work request holds until it is retired: the origin's memory, unless that was copied,
/// which its owner was told at once; a bounce slot that `local` is in.
enum class Holding : std::uint8_t { nothing = 0, memory = 1, slot = 2, memory_and_slot = 3 };
[[nodiscard]] constexpr bool holds(Holding all, Holding what) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(what)) != 0;
}

/// One work request: what it takes to post it (now, or once more on a rebuilt connection), and what
/// to do when it is done. One cache line.
struct alignas(64) WorkRecord {
  Operation operation = Operation::put;
  Opcode opcode = Opcode::write;
  bool signalled = false;  ///< set by the ledger
  Holding holding = Holding::memory;
  std::uint32_t length = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  std::uint64_t remote_address = 0;
  std::byte* local = nullptr;  ///< where the device reads or writes: registered until retired
  transport::Completion* done = nullptr;
  // These of what brings data or is an atomic only: a write leaves here what was.
  std::byte* copy_to = nullptr;  ///< memory of the user that gets `length` bytes of `local`
  /// Atomics: to add, or to compare with. Others: runs that get `length` bytes of `local`, listed
  /// in the bounce slot.
  std::uint64_t operand = 0;
  std::uint64_t swap = 0;

  [[nodiscard]] bool is_locally_done() const noexcept { return !holds(holding, Holding::memory); }
  [[nodiscard]] bool holds_slot() const noexcept { return holds(holding, Holding::slot); }
};
static_assert(sizeof(WorkRecord) == 64);

/// A ring of records with three marks, each a running number:
///
///     retired_ ……………… posted_ ……………… next_           next_ - retired_ <= depth
///       | in flight: with the device | staged: no doorbell yet |
///
/// Staged records are posted together, so that many small operations share a doorbell. A record's
/// number is its place in line: the completion of number n says that everything up to n is done,
/// as a reliable connection completes in order.
///
/// Not every request asks for a completion. Invariant: among any kSignalEvery (or half a smaller
/// queue) consecutive records one is signalled, so a full ring always holds a signalled one.
/// An operation that finds the ring empty is signalled: put + flush is then one work request.
///     put            empty ring: signalled
///     put, put, put  not
///     flush: seal()  the last one is still staged: signalled; else a request of its own is needed
class SendLedger {
 public:
  explicit SendLedger(std::uint32_t depth = kQueueDepth) noexcept
      : depth_(std::clamp(depth, 2U, kQueueDepth)),
        signal_every_(std::min(kSignalEvery, depth_ / 2)) {}

  [[nodiscard]] bool has_room() const noexcept { return next_ - retired_ < depth_; }
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  [[nodiscard]] std::uint32_t posted() const noexcept { return posted_; }
  [[nodiscard]] std::uint32_t outstanding() const noexcept { return next_ - retired_; }
  [[nodiscard]] std::uint32_t in_flight() const noexcept { return posted_ - retired_; }
  [[nodiscard]] std::uint32_t staged() const noexcept { return next_ - posted_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint32_t signal_every() const noexcept { return signal_every_; }
  /// The index of a number's place in the ring, for memory that goes with it.
  [[nodiscard]] static constexpr std::uint32_t place(std::uint32_t number) noexcept {
    return number & (kQueueDepth - 1);
  }
  [[nodiscard]] const WorkRecord& record(std::uint32_t number) const noexcept {
    return ring_[place(number)];
  }
  [[nodiscard]] bool is_in_flight(std::uint32_t number) const noexcept {
    return number - retired_ < in_flight();
  }
  [[nodiscard]] bool reads_outstanding() const noexcept { return reads_ != 0; }
  /// There are writes behind which no read has been answered: acknowledged perhaps, but on some
  /// devices not visible yet.
  [[nodiscard]] bool has_unread_writes() const noexcept { return has_unread_writes_; }
  /// Everything is with the device and will complete without another request behind it.
  [[nodiscard]] bool is_sealed() const noexcept { return unsignalled_ == 0 && staged() == 0; }

  /// Whether the device may be reading or writing memory of the program's.
  [[nodiscard]] bool borrows_memory() const noexcept {
    for (std::uint32_t number = retired_; number != next_; ++number) {
      if (!record(number).is_locally_done()) return true;
    }
    return false;
  }

  /// The place of the next record, to be filled before append(). Requires has_room().
  [[nodiscard]] WorkRecord& next_record() noexcept { return ring_[place(next_)]; }
  /// Takes it in. Requires has_room(). @param entry  next_record(), filled
  /// @param wants_completion  signalled whatever the rules say
  /// @param opcode, length  the entry's
  void append(WorkRecord& entry, Opcode opcode, std::uint32_t length,
              bool wants_completion) noexcept {
    assert(has_room() && &entry == &next_record());
    const std::uint32_t number = next_;
    const bool is_lone = number == retired_;
    next_ = number + 1;
    ++unsignalled_;
    if (is_lone || wants_completion || unsignalled_ >= signal_every_) [[unlikely]]
      signal(entry);
    note(entry, opcode, length, number);
  }
  /// Where an operation goes that finds the ring empty: always the first place, so that one after
  /// the other finds it, and the memory that goes with it, in the cache.
  [[nodiscard]] WorkRecord& first_record() noexcept { return ring_[0]; }
  /// append() and mark_posted() in one, of first_record(), filled and signalled, where the ring is
  /// empty. Whatever emptied it was signalled, so there is nothing unsignalled. The numbers up to
  /// the next of the first place are left out: nothing that they could mean is in flight. Returns
  /// its number.
  /// @param opcode  the entry's
  std::uint32_t append_first(const WorkRecord& entry, Opcode opcode) noexcept {
    assert(outstanding() == 0 && unsignalled_ == 0 && &entry == &ring_[0] && entry.signalled);
    const std::uint32_t number = (next_ + kQueueDepth - 1) & ~(kQueueDepth - 1);
    retired_ = number;
    posted_ = next_ = number + 1;
    note(entry, opcode, 1, number);
    return number;
  }

  /// Makes the last record ask for a completion if that is still possible. False: it is with the
  /// device already, unsignalled, and a request of its own has to be posted behind it.
  [[nodiscard]] bool signal_last() noexcept {
    if (outstanding() == 0 || unsignalled_ == 0) return true;
    if (staged() == 0) return false;
    signal(ring_[place(next_ - 1)]);
    return true;
  }

  void mark_posted(std::uint32_t count) noexcept {
    assert(count <= staged());
    posted_ += count;
  }

  /// Everything up to `number` is done: `finish` is called for each, oldest first.
  template <class Finish>
  std::uint32_t retire_through(std::uint32_t number, Finish finish) noexcept {
    assert(is_in_flight(number));
    const std::uint32_t first = retired_;
    std::uint32_t next = first;
    do {
      retire(next, finish);
    } while (next++ != number);
    return next - first;
  }

  /// The queue pair is gone: nothing in flight or staged will ever complete.
  template <class Finish>
  std::uint32_t retire_all(Finish finish) noexcept {
    const std::uint32_t count = outstanding();
    posted_ = next_;
    while (retired_ != next_) retire(retired_, finish);
    unsignalled_ = 0;
    return count;
  }

 private:
  /// An add() does not: nothing has to wait for the old value that comes back and goes nowhere.
  [[nodiscard]] static bool brings_data(const WorkRecord& record) noexcept {
    return record.opcode != Opcode::write && !record.is_locally_done();
  }
  void note(const WorkRecord& entry, Opcode opcode, std::uint32_t length,
            std::uint32_t number) noexcept {
    if (opcode != Opcode::write) {
      if (brings_data(entry)) ++reads_;
    } else if (length > 0) {
      has_unread_writes_ = true;
      last_write_ = number;
    }
  }
  void signal(WorkRecord& entry) noexcept {
    entry.signalled = true;
    unsignalled_ = 0;
  }

  /// @param number  the oldest one's
  template <class Finish>
  void retire(std::uint32_t number, Finish& finish) noexcept {
    const WorkRecord& entry = ring_[place(number)];
    if (entry.opcode != Opcode::write) {
      if (brings_data(entry)) --reads_;
      // Posted behind the last write, if the write is not among those still to be retired.
      if (last_write_ - number >= outstanding()) has_unread_writes_ = false;
    }
    retired_ = number + 1;
    finish(entry);
  }

  std::uint32_t depth_;
  std::uint32_t signal_every_;
  std::uint32_t retired_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t unsignalled_ = 0;  ///< records behind the last signalled one
  std::uint32_t reads_ = 0;        ///< outstanding ones that bring data
  std::uint32_t last_write_ = 0;
  bool has_unread_writes_ = false;
  std::array<WorkRecord, kQueueDepth> ring_{};  // its first place lies beside what is above
};

}  // namespace oriel::verbs
