#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sync/control_words.hpp"
#include "transport/endpoint.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// A member of the group that this rank signals or waits for.
struct Partner {
  transport::Endpoint* endpoint = nullptr;
  transport::RemoteAddress words{};  ///< its ControlWords
};

/// The two partners of one round.
struct Round {
  Partner ahead;   ///< rank + 2^k: signalled
  Partner behind;  ///< rank - 2^k: waited for
};

/// Distances of the rounds of a barrier over `ranks`: 1, 2, 4, … below it.
[[nodiscard]] std::vector<int> round_distances(int ranks);

/// Dissemination barrier [Hensgen, Finkel, Manber 1988]: in round k rank r signals r + 2^k and
/// waits for r - 2^k, modulo p.
///
/// Invariant: word round[k] of rank r counts how many barriers r - 2^k has entered and brought to
/// round k. It is written by one rank only, one step at a time. A partner can be at most one
/// barrier ahead, as it cannot leave a barrier that r has not entered: so `>= epoch` means "has
/// reached round k of this barrier", and nothing is ever reset. After the last round, r has heard,
/// directly or not, from all p ranks. Cost: ceil(log2 p) signals.
///
/// Nobody hangs: who leaves by an error tells its partners of all rounds in a word of their own in
/// gave_up; whoever waits and finds one set, or a member dead, leaves by an error too and tells its
/// own partners: within ceil(log2 p) steps everybody knows. A rank that leaves after n barriers has
/// sent all its signals of those n, and so has everybody else: who is still in one of them waits on
/// and completes it; only later ones end in the error.
class Barrier {
 public:
  /// @param members  world ranks in team order; they and `mine`, this rank's words, outlive the
  /// barrier
  /// @param rounds  one per element of round_distances()
  Barrier(std::span<const int> members, int rank, std::vector<Round> rounds, ControlWords& mine,
          transport::Progress& progress, transport::PeerHealth& health);

  /// Errors: peer_lost, peer_failed, transport_failed; and from then on always.
  void wait(std::string_view operation);

  /// Leaves for good: partners that wait, now or later, get an error instead of waiting for ever.
  /// Never throws, never waits long.
  /// @param why  names the culprit that the others are told of; null: this rank itself
  void give_up(const Error* why = nullptr) noexcept;
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }
  /// Signals sent so far.
  [[nodiscard]] std::uint64_t signals() const noexcept { return signals_; }

 private:
  void signal(const Partner& to, std::size_t byte_offset, std::uint64_t value);
  void wait_for(std::string_view operation, std::size_t round);
  void check_alive(std::string_view operation) const;
  void check_departure(std::string_view operation, const Departure& departure) const;
  [[noreturn]] void throw_lost(std::string_view operation, int world_rank) const;
  [[nodiscard]] Departure departure(const Error* why) const noexcept;
  void tell(const Partner& partner, std::size_t word, const Departure& farewell);
  void drain();

  std::span<const int> members_;
  std::size_t rank_;
  std::vector<Round> rounds_;
  ControlWords& mine_;
  transport::Progress& progress_;
  transport::PeerHealth& health_;
  transport::Completion done_;
  std::uint64_t epoch_ = 0;      // barriers entered
  std::uint64_t completed_ = 0;  // and left as one should
  std::uint64_t signals_ = 0;
  bool given_up_ = false;
};

}  // namespace oriel::sync
