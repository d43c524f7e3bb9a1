#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace oriel::sync {

/// Rounds of a dissemination barrier over 2^31 ranks; or over fewer, of several machines, in two
/// stages, which may take one more.
inline constexpr unsigned kMaxRounds = 31;

/// Partners of post/start/complete/wait that a rank's control area has room for.
inline constexpr std::size_t kPartnerSlots = 128;

/// Locks of stretches of a part, where every rank has it mapped.
inline constexpr std::size_t kStretchLocks = 64;

/// A lock that any rank can take: see queued_lock.hpp. Changed by atomics alone.
struct LockWords {
  std::uint64_t state;
  std::uint64_t tail;
};

/// A rank's place in the queue of a lock, where it waits. Changed by others through add() alone.
struct QueueNode {
  std::uint64_t next;  ///< grows by the rank behind in the queue, plus one, when that is known
  std::uint64_t go;    ///< counts the times this rank has become the first of a queue
  std::uint64_t look;  ///< counts the hints that the lock may be free for the first of the queue
};

/// The words of one rank's control area that peers write. Lies in exposed memory, zeroed at
/// creation. Layout is the same on all ranks. `round`, `gave_up`, `posted` and `completed` are
/// written by signal() alone, each by one rank; counters only ever grow by one and are compared
/// with >=. The notification slots, as many as the window was made with, follow behind.
struct ControlWords {
  std::array<std::uint64_t, kMaxRounds>
      round;  ///< barriers that the partner of round k has reached
  /// Departures, packed; 0: has not left. Two for each round: of the partner ahead, of the partner
  /// behind.
  std::array<std::uint64_t, 2 * kMaxRounds> gave_up;
  LockWords part_lock;        ///< of this rank's part: lock(), unlock()
  LockWords window_lock;      ///< of the whole window, at rank 0 alone: lock_all()
  LockWords accumulate_lock;  ///< held for the length of an accumulate on this rank's part
  std::array<std::uint32_t, kStretchLocks> stretch_locks;  ///< of this rank's part; see Stripes
  QueueNode lock_node;                              ///< for part_lock and window_lock of any rank
  QueueNode accumulate_node;                        ///< for accumulate_lock of any rank
  std::array<std::uint64_t, kPartnerSlots> posted;  ///< exposure epochs that a target has posted
  std::array<std::uint64_t, kPartnerSlots> completed;  ///< access epochs that an origin completed
};

static_assert(sizeof(ControlWords) == 3144);

/// Reads a word of this rank's own that others change: what they wrote before is seen, too.
[[nodiscard]] inline std::uint64_t load(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}

/// How a rank that leaves by an error says so, in one word: whose fault it is, and after how many
/// barriers. Those are still good for everybody.
struct Departure {
  std::uint64_t barriers = 0;
  std::uint32_t culprit = 0;  ///< team rank: the dead one, or the one whose error started it all
  bool dead = false;

  static constexpr unsigned kRankBits = 24;
  static constexpr std::uint64_t kRankMask = (std::uint64_t{1} << kRankBits) - 1;

  [[nodiscard]] constexpr std::uint64_t packed() const noexcept {
    return barriers << (kRankBits + 1) | std::uint64_t{dead} << kRankBits |
           (culprit + std::uint64_t{1});
  }
  [[nodiscard]] static constexpr Departure unpack(std::uint64_t word) noexcept {
    return {word >> (kRankBits + 1), static_cast<std::uint32_t>((word & kRankMask) - 1),
            (word >> kRankBits & 1) != 0};
  }
};

}  // namespace oriel::sync
