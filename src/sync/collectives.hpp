#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sync/barrier.hpp"
#include "sync/control_words.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// Counters of the mailboxes: one of a box, where its owner waits for pieces, and one of the box of
/// the partner ahead, where the sender waits for room. Each is written by signal() alone, by one
/// rank, and only ever grows by one.
struct MailWords {
  std::array<std::uint64_t, kMaxRounds> full;     ///< pieces that the partner behind has put here
  std::array<std::uint64_t, kMaxRounds> emptied;  ///< pieces that the partner ahead has taken there
};

/// Barrier, allgather and broadcast of a team, over the partners of Barrier: data goes to the
/// partner ahead of its round, by puts into a mailbox of that partner's.
///
/// Each rank has one box per round, of kBoxPieces pieces. The sender puts a piece, then signals
/// `full`; the receiver copies it out, then signals `emptied` back. Calls come in the same order
/// with the same sizes on all ranks, so both sides cut alike, and piece n of a box is the same to
/// both, without any header.
///
/// Invariant: a piece is put only while fewer than kBoxPieces of its box are not known to be
/// emptied, so no unread byte is overwritten; it is taken only once `full` counts it, and a signal
/// never overtakes the put before it, so no byte is read too early. A call returns only when this
/// rank has taken all that was sent to it, has been told that all it sent was taken, and all it
/// posted is complete. So nothing of this call or of an earlier one is under way to this rank's
/// memory any more; what may be is of a later call alone, which this rank has yet to enter. After a
/// team's last call each rank may therefore free its memory at once, without asking anybody.
///
/// It cannot deadlock: a rank in round k waits only for what its partners of that round do in
/// rounds up to k, and it sends and takes in one loop. Nobody hangs: every wait watches as Barrier
/// does, whoever fails tells its partners as there, and all of them leave by an error.
class Collectives {
 public:
  static constexpr std::size_t kPieceBytes = 16 * 1024;
  static constexpr std::size_t kBoxPieces = 2;  // one is filled while the other is emptied

  /// Bytes of a rank's area, which begins with its ControlWords: 4 KiB, and 32 KiB per round.
  [[nodiscard]] static std::size_t area_bytes(int ranks);

  /// @param members  world ranks in team order; they and `area`, of area_bytes(), outlive this
  /// @param rounds  by make_rounds(); words of a partner are at the beginning of its area
  Collectives(std::span<const int> members, int rank, std::vector<Round> rounds, std::byte* area,
              transport::Progress& progress, transport::PeerHealth& health);

  // Errors of all: as of Barrier::wait, and from then on always.

  /// Cost: ceil(log2 p) signals.
  void barrier(std::string_view operation) { barrier_.wait(operation); }

  /// Everybody's `mine`, equally long, in the order of ranks in `all`, of which `mine` may be the
  /// part that is its own. Not a barrier if there are no bytes.
  /// Cost: ceil(log2 p) rounds [Bruck et al. 1997] and (p - 1) * mine.size() bytes sent by each;
  /// per piece of up to 16 KiB a put and two signals.
  void allgather(std::string_view operation, std::span<const std::byte> mine,
                 std::span<std::byte> all);

  /// The bytes of `root`, equally many everywhere, to all. A binomial tree of the partners.
  /// Cost: at most ceil(log2 p) times bytes.size() sent by one rank, and one after another; p - 1
  /// times in all.
  void broadcast(std::string_view operation, std::span<std::byte> bytes, int root);

  /// See Barrier::give_up.
  void give_up(const Error* why = nullptr) noexcept { barrier_.give_up(why); }
  [[nodiscard]] bool given_up() const noexcept { return barrier_.given_up(); }
  /// Pieces put so far.
  [[nodiscard]] std::uint64_t pieces() const noexcept { return pieces_; }

 private:
  /// What passes through this rank's box of a round, and that of the partner ahead, so far.
  struct Traffic {
    std::uint64_t sent = 0;
    std::uint64_t taken = 0;
  };
  class Run;

  void exchange(std::string_view operation, std::size_t round, Run outgoing, Run incoming);
  void send(std::size_t round, std::span<const std::byte> piece);
  void take(std::size_t round, std::span<std::byte> piece);
  void settle(std::string_view operation);
  [[nodiscard]] bool has_room(std::size_t round) const noexcept;
  [[nodiscard]] bool has_mail(std::size_t round) const noexcept;
  [[nodiscard]] bool all_taken(std::size_t round) const noexcept;

  int rank_;
  int size_;
  std::byte* area_;
  MailWords& mail_;
  transport::Progress& progress_;
  Barrier barrier_;
  std::vector<Traffic> traffic_;  // by round
  std::uint64_t pieces_ = 0;
};

}  // namespace oriel::sync
