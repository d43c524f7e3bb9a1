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

/// How a rank that leaves by an error says so, in one word: who, and after how many barriers. Those
/// are still good for everybody.
struct Departure {
  std::uint64_t barriers = 0;
  std::uint32_t rank = 0;  ///< in the team

  static constexpr unsigned kRankBits = 24;

  [[nodiscard]] constexpr std::uint64_t packed() const noexcept {
    return barriers << kRankBits | (rank + std::uint64_t{1});
  }
  [[nodiscard]] static constexpr Departure unpack(std::uint64_t word) noexcept {
    const std::uint64_t who = word & ((std::uint64_t{1} << kRankBits) - 1);
    return {word >> kRankBits, static_cast<std::uint32_t>(who - 1)};
  }
};

}  // namespace oriel::sync
