#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <oriel/error.hpp>

#include "sync/control_words.hpp"
#include "sync/partner.hpp"
#include "sync/vigil.hpp"
#include "transport/endpoint.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// The two partners of one round, by their team ranks.
struct Meeting {
  int ahead = 0;   ///< signalled
  int behind = 0;  ///< waited for
  friend bool operator==(const Meeting&, const Meeting&) = default;
};
/// The same, with the ways to them.
struct Round {
  Partner ahead;
  Partner behind;
  Meeting ranks{};
};

/// Distances of the rounds of a barrier over `ranks`: 1, 2, 4, … below it.
[[nodiscard]] std::vector<int> round_distances(int ranks);
/// Whom `rank` meets in the rounds of a barrier over `ranks`: who is that far ahead and behind.
[[nodiscard]] std::vector<Meeting> meetings(int ranks, int rank);
/// The same for ranks on several machines: those of each among themselves first, by shared memory,
/// then each with those of its place on the other machines, so that the network is waited for
/// ceil(log2 machines) times, not ceil(log2 p). Where machines have unequally many, as above.
/// @param nodes  numbers of the machines, by team rank
[[nodiscard]] std::vector<Meeting> meetings(std::span<const int> nodes, int rank);

/// Rounds of those meetings. `partner(rank)` finds the way to a member; it is asked once for each,
/// whatever the number of rounds they meet in.
template <class FindPartner>
[[nodiscard]] std::vector<Round> make_rounds(std::span<const Meeting> meetings,
                                             FindPartner&& partner) {
  std::map<int, Partner> known;
  const auto find = [&](int member) {
    const auto [place, is_new] = known.try_emplace(member);
    if (is_new) place->second = partner(member);
    return place->second;
  };
  std::vector<Round> rounds;
  for (const Meeting& meeting : meetings) {
    rounds.push_back({find(meeting.ahead), find(meeting.behind), meeting});
  }
  return rounds;
}

/// Dissemination barrier [Hensgen, Finkel, Manber 1988]: in round k rank r signals r + 2^k and
/// waits for r - 2^k, modulo p. With several ranks on each machine in two such stages, one after
/// the other: after the first a rank has heard from all of its machine, and then hears from one of
/// each other machine, which had heard from all of it. See meetings().
///
/// Invariant: word round[k] of rank r counts how many barriers the one behind it has entered and
/// brought to round k. It is written by one rank only, one step at a time. A partner can be at most
/// one barrier ahead, as it cannot leave a barrier that r has not entered: so `>= epoch` means "has
/// reached round k of this barrier", and nothing is ever reset. After the last round, r has heard,
/// directly or not, from all p ranks. Cost: ceil(log2 p) signals; in two stages those of each.
///
/// Nobody hangs: who leaves by an error tells its partners of all rounds in a word of their own in
/// gave_up; whoever waits and finds one set, or a member dead, leaves by an error too and tells its
/// own partners: within as many steps as rounds everybody knows. A rank that leaves after n steps
/// has sent all that it owes others in those n, and knows that everybody has entered the barriers
/// among them: who is still in one of the n waits on and completes it, as nothing but what others
/// have still to send is missing; only later ones end in the error. A step is a barrier or another
/// collective of the group (Collectives), and counts in both.
class Barrier {
 public:
  /// @param members  world ranks in team order; they and `mine`, this rank's words, outlive the
  /// barrier
  /// @param rounds  those of meetings(), alike on all ranks
  Barrier(std::span<const int> members, int rank, std::vector<Round> rounds, ControlWords& mine,
          transport::Progress& progress, transport::PeerHealth& health);

  /// Errors: peer_lost, peer_failed, transport_failed; and from then on always.
  void wait(std::string_view operation);

  /// Runs `body` as one collective step of the group, alike on all ranks: on return, all that it
  /// has posted to partners with done() is complete. Who fails in it leaves for good, as in wait();
  /// then, too, nothing of it is outstanding any more.
  template <class Body>
  void step(std::string_view operation, Body&& body);
  /// What Progress::wait calls in a step while the partner behind `awaited` still owes something.
  [[nodiscard]] Vigil::Watch watch(std::string_view operation, transport::Endpoint& awaited) const {
    return vigil_.watch(operation, &awaited, entered_);
  }
  [[nodiscard]] transport::Completion& done() noexcept { return done_; }
  [[nodiscard]] std::span<const Round> rounds() const noexcept { return rounds_; }

  /// Leaves for good: partners that wait, now or later, get an error instead of waiting for ever.
  /// Never throws, never waits long.
  /// @param why  names the culprit that the others are told of; null: this rank itself
  void give_up(const Error* why = nullptr) noexcept;
  /// For who waits for the team in other ways: throws if a member is dead or has left, after
  /// however many barriers. Errors: peer_lost, peer_failed.
  void check_left(std::string_view operation) const { vigil_.check(operation); }
  [[nodiscard]] bool given_up() const noexcept { return given_up_; }
  /// Signals sent so far.
  [[nodiscard]] std::uint64_t signals() const noexcept { return signals_; }

 private:
  void signal(const Partner& to, std::size_t byte_offset, std::uint64_t value);
  void wait_for(std::string_view operation, std::size_t round);
  [[nodiscard]] Departure departure(const Error* why) const;
  [[noreturn]] void fail(std::string_view operation, const Error& error);
  void tell_partners(const Departure& farewell);
  void tell(const Partner& partner, int member, std::size_t word, const Departure& farewell);
  void drain();

  std::span<const int> members_;
  std::size_t rank_;
  std::vector<Round> rounds_;
  ControlWords& mine_;
  transport::Progress& progress_;
  transport::PeerHealth& health_;
  Vigil vigil_;
  transport::Completion done_;
  std::uint64_t epoch_ = 0;      // barriers entered
  std::uint64_t entered_ = 0;    // steps entered, barriers included
  std::uint64_t completed_ = 0;  // and left as one should
  std::uint64_t signals_ = 0;
  bool given_up_ = false;
};

template <class Body>
void Barrier::step(std::string_view operation, Body&& body) {
  try {
    ++entered_;
    vigil_.check(operation, entered_);
    body();
    drain();
    completed_ = entered_;
  } catch (const Error& error) {
    fail(operation, error);
  }
}

}  // namespace oriel::sync
