#pragma once

#include <array>
#include <cstdint>

namespace oriel::sync {

/// Rounds of a dissemination barrier over 2^31 ranks.
inline constexpr unsigned kMaxRounds = 31;

/// The words of one rank's control area that peers write. Lies in exposed memory, zeroed at
/// creation. Layout is the same on all ranks. Every word is written by signal() alone; counters
/// only ever grow by one and are compared with >=.
struct ControlWords {
  std::array<std::uint64_t, kMaxRounds>
      round;  ///< barriers that the partner of round k has reached
  /// Departures, packed; 0: has not left. Two for each round: of the partner ahead, of the partner
  /// behind.
  std::array<std::uint64_t, 2 * kMaxRounds> gave_up;
};

static_assert(sizeof(ControlWords) == 744);

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
