#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sync/control_words.hpp"
#include "sync/partner.hpp"
#include "sync/remote_words.hpp"
#include "sync/vigil.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// How a lock is held. `shared` and `crowd` are two kinds of holders that exclude each other, any
/// number of one kind at a time: lock_all() holds a window's lock `shared`, the holders of parts
/// `crowd`. `exclusive` excludes everybody.
enum class LockMode : std::uint8_t { shared, crowd, exclusive };

/// What LockWords::state says. Every field changes by atomics on the whole word.
struct LockState {
  static constexpr unsigned kCountBits = 20;
  static constexpr std::uint64_t kMaxHolders = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint64_t kUnitA = 1;
  static constexpr std::uint64_t kUnitB = std::uint64_t{1} << kCountBits;
  static constexpr std::uint64_t kUnitHead = std::uint64_t{1} << 2 * kCountBits;

  std::uint64_t word = 0;

  [[nodiscard]] constexpr std::uint64_t a() const noexcept { return word & kMaxHolders; }
  [[nodiscard]] constexpr std::uint64_t b() const noexcept { return word / kUnitB & kMaxHolders; }
  /// The first of the queue, as rank + 1; 0: nobody is known to wait.
  [[nodiscard]] constexpr std::uint64_t head() const noexcept { return word / kUnitHead; }

  /// What one holder adds.
  [[nodiscard]] static constexpr std::uint64_t unit(LockMode mode) noexcept {
    return (mode == LockMode::crowd ? 0 : kUnitA) + (mode == LockMode::shared ? 0 : kUnitB);
  }
  /// Whether the holders leave room for one more of that mode.
  [[nodiscard]] constexpr bool admits(LockMode mode) const noexcept {
    return (mode == LockMode::shared || a() == 0) && (mode == LockMode::crowd || b() == 0);
  }
  /// Whether there may be room for the head now that one of `mode` has gone: not while others of
  /// all its kinds are left.
  [[nodiscard]] constexpr bool may_admit_after(LockMode mode) const noexcept {
    return (mode != LockMode::crowd && a() == 0) || (mode != LockMode::shared && b() == 0);
  }
};

/// What is known of a lock that somebody waits for, in words. @param owner  the team rank at which
/// it lies
[[nodiscard]] std::string lock_text(int owner, LockState state);

/// Locks that any rank can take, anywhere: no processor of the target takes part, and who waits
/// looks at memory of its own alone. One object serves all locks of a window whose queues pass
/// through the same kind of QueueNode.
///
/// A lock is LockWords. Its state counts the holders of the two kinds (a: shared, b: crowd; who
/// holds exclusively counts as both) and names the first of the queue; behind that the queue is a
/// list as in [Mellor-Crummey, Scott 1991]: `tail` is the last one, each knows the one behind it by
/// its own node.
///
/// Invariant
/// - Mutual exclusion. A rank holds from the atomic on `state` that found room for its mode, by the
///   value it returned, and added its unit, until the one that takes the unit away. A shared or
///   crowd newcomer adds its unit before it knows; if there was no room, it takes it back. Such a
///   passing unit can keep others out for a moment, but never lets one in.
/// - Order. Newcomers take a lock only if no head is set; whoever finds one queues. The queue is in
///   the order of the swaps of `tail`; only the head takes the lock, by a compare-and-swap that
///   names the next head at once if it is known. If none is, newcomers may pass in the time that
///   the new holder needs to learn of somebody behind it and to name him: once per holder, and none
///   if it holds exclusively. Nobody starves: with a head set, every other rank changes `state` at
///   most twice for each lock it holds or asks for, then waits in the queue, and so the head's
///   attempts end.
/// - One head. The head is set by a rank that found `tail` empty, or by its predecessor in the
///   queue. `tail` is emptied only by one who was the head, who has taken its name out of `state`
///   before. So whoever sets a head finds none.
/// - No lost hint. A head that finds no room has read its `look` before. There will be room only
///   when the last unit of a kind goes; the atomic that takes it away finds the head's name, as its
///   attempt came before, and its rank then adds to that head's `look`. A hint that comes too late
///   makes some later head of that rank look once too often, nothing else.
/// - Nodes. `next`, `go` and `look` are added to by others and never written by the owner, who
///   remembers what they were. While a rank waits in a queue, one rank tells it of the one behind,
///   once (`next`), and one that it is the head now, once (`go`; not if the queue was empty); both
///   are waited for before the place in the queue is given up. A rank waits in one queue at a time.
///
/// Cost, uncontended: one atomic to lock, one to unlock. For who has to queue: usually 6 or 7
/// atomics and 3 messages in all, whatever the number of ranks.
///
/// Errors: peer_lost, peer_failed, those of the endpoints; the lock is then in no defined state,
/// and waits for it end in errors, too. Threads: as the transports; of several that have to wait,
/// one at a time is in a queue. Not for a thread that holds the lock already.
class QueuedLock {
 public:
  /// Each counts once, for what it holds or waits for; in the crowd, where a rank may hold several
  /// parts, each part and each rank once.
  static constexpr std::uint64_t kMostRanks = LockState::kMaxHolders / 2;

  /// @param mine  this rank's words, and in them `node`; see ControlWords
  /// @param partners  leads to all ranks' words, this one's included
  QueuedLock(ControlWords& mine, QueueNode ControlWords::*node, Partners partners,
             transport::Progress& progress, const Vigil& vigil);

  /// Returns when the lock is held. `at`: the LockWords.
  void lock(std::string_view operation, const Place& at, LockMode mode);
  /// The same past the queue: waits for holders alone, and looks at the lock again and again. For
  /// who might find before it in the queue somebody that waits for what it holds already.
  void lock_past_queue(std::string_view operation, const Place& at, LockMode mode);
  /// What was done under the lock must be complete at its target before.
  void unlock(const Place& at, LockMode mode);

  /// The same by CPU atomics on `state` of LockWords that are mapped here, where no rank uses other
  /// atomics on them. These two need no turn. False: somebody is in the way.
  [[nodiscard]] static bool try_lock(std::uint64_t& state, LockMode mode) noexcept;
  /// @return whom to hint() at, or 0
  [[nodiscard]] static std::uint64_t release(std::uint64_t& state, LockMode mode) noexcept;
  void hint(std::uint64_t head);

  /// Waits until nothing is on its way to other ranks' words. Errors: those of the endpoints.
  void settle() { words_.settle(); }

  /// Atomics posted so far.
  [[nodiscard]] std::uint64_t atomics() const noexcept { return words_.atomics(); }

 private:
  class Turn;

  [[nodiscard]] bool take_if_free(const Place& at, LockMode mode);
  void wait_turn(std::string_view operation);
  void queue_and_take(std::string_view operation, const Place& at, LockMode mode);
  [[nodiscard]] LockState become_head(std::string_view operation, const Place& at);
  [[nodiscard]] std::uint64_t take_as_head(std::string_view operation, const Place& at,
                                           LockMode mode, LockState guess);
  [[nodiscard]] std::uint64_t name_successor(std::string_view operation, const Place& at);
  [[nodiscard]] std::uint64_t swap_tail(const Place& tail);
  [[nodiscard]] int owner_of(const Place& at) const;
  [[nodiscard]] Place node_of(std::uint64_t rank_plus_one, std::size_t word) const;

  QueueNode& node_;
  std::size_t node_offset_;
  std::uint64_t me_;  // this rank, plus one
  Partners partners_;
  transport::Progress& progress_;
  const Vigil& vigil_;
  RemoteWords words_;
  std::atomic<bool> in_queue_{false};
  std::uint64_t next_before_ = 0;  // node_.next when this rank entered the queue
};

inline bool QueuedLock::try_lock(std::uint64_t& state, LockMode mode) noexcept {
  const std::atomic_ref word(state);
  LockState seen{word.load(std::memory_order_relaxed)};
  if (seen.head() != 0 || !seen.admits(mode)) return false;
  return word.compare_exchange_strong(seen.word, seen.word + LockState::unit(mode));
}

inline std::uint64_t QueuedLock::release(std::uint64_t& state, LockMode mode) noexcept {
  const std::uint64_t unit = LockState::unit(mode);
  const LockState left{std::atomic_ref(state).fetch_sub(unit) - unit};
  return left.may_admit_after(mode) ? left.head() : 0;
}

}  // namespace oriel::sync
