#pragma once
/// Teams: ordered sets of the job's ranks that create windows together [MPI communicators, groups].

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <oriel/export.hpp>
#include <oriel/rank.hpp>

namespace oriel {

namespace window {
class TeamState;
}

/// Values that travel as the bytes they are. Pointers and views are not: what they mean stays
/// behind.
template <class T>
concept Sendable =
    std::is_trivially_copyable_v<T> && std::default_initializable<T> && !std::is_const_v<T> &&
    !std::is_pointer_v<T> && !std::ranges::enable_borrowed_range<T>;

/// A team. Copies are cheap and mean the same team. Valid as long as its Runtime.
///
/// split, barrier, allgather, broadcast and allreduce are *collective*: all ranks of the team call
/// them, and create its windows, in the same order. They move by Oriel itself, without MPI. Errors
/// of all: peer_lost if a member has died, peer_failed if one has left by an error,
/// transport_failed; a team that saw one of these is of no more use. window_freed on a team that
/// was moved from or has outlived its Runtime. Threads of all: one-at-a-time per runtime.
///
/// A team ends with its last copy, without waiting for the other ranks.
class ORIEL_API Team {
 public:
  /// This process's rank in the team. Threads: any. Cost: none.
  [[nodiscard]] Rank rank() const noexcept;
  /// Number of ranks. Threads: any. Cost: none.
  [[nodiscard]] int size() const noexcept;
  /// Rank in the job's world team of member `member`. Errors: ErrorCode::invalid_rank.
  [[nodiscard]] Rank world_rank(Rank member) const;
  /// Name of the host that runs `member`. Errors: ErrorCode::invalid_rank. Threads: any.
  [[nodiscard]] std::string host(Rank member) const;
  /// Path that data to `member` takes: "shm" or "verbs". Errors: ErrorCode::invalid_rank. Threads:
  /// any.
  [[nodiscard]] std::string_view fabric(Rank member) const;

  /// Collective: divides the team; ranks that give the same `color` form a new team, ordered by
  /// `key`, then by rank [MPI_Comm_split].
  ///
  /// Completion: on return, on every rank.
  /// @param color  any value; ranks with a negative color get a team of their own alone
  /// Errors: out_of_memory, locked_memory_limit, registration_failed on the rank concerned,
  /// peer_failed on all others; the team itself is then as good as before. Cost: three allgathers
  /// of up to 100 bytes a rank, and the memory of the new team: 4 KiB, and 32 KiB per power of 2 in
  /// its size.
  [[nodiscard]] Team split(int color, int key = 0) const;

  /// Collective: returns on no rank before every rank has called it [MPI_Barrier]. Does not
  /// complete window operations. Cost: ceil(log2 p) messages of 8 bytes.
  void barrier() const;

  /// Collective: everybody's `mine`, in the order of ranks [MPI_Allgather].
  ///
  /// Completion: on return. Cost: ceil(log2 p) rounds of messages; (p - 1) * sizeof(T) bytes sent
  /// by each rank, in pieces of up to 16 KiB, each with 8 bytes ahead and 8 back.
  template <Sendable T>
  [[nodiscard]] std::vector<T> allgather(const T& mine) const {
    return allgather(std::span(&mine, 1));
  }
  /// The same for several values, one rank's behind the other's. Requires: equally many on all
  /// ranks.
  template <class T, std::size_t N>
  requires Sendable<std::remove_const_t<T>>
  [[nodiscard]] std::vector<std::remove_const_t<T>> allgather(std::span<T, N> mine) const {
    const auto all = gathered("Team::allgather", std::span<const T>(mine));
    const std::size_t count = mine.size() * static_cast<std::size_t>(size());
    return std::vector<std::remove_const_t<T>>(all.get(), all.get() + count);
  }

  /// Collective: the value of `root` becomes everybody's [MPI_Bcast].
  ///
  /// Completion: on return; other ranks may still be in the call. Errors: invalid_rank. Cost: p - 1
  /// times the value in all, at most ceil(log2 p) times by one rank; in pieces as allgather().
  template <Sendable T>
  void broadcast(T& value, Rank root) const {
    broadcast(std::span(&value, 1), root);
  }
  /// The same for several values. Requires: equally many on all ranks.
  template <Sendable T, std::size_t N>
  void broadcast(std::span<T, N> values, Rank root) const {
    broadcast_bytes(std::as_writable_bytes(values), root);
  }

  /// Collective: everybody's `mine`, combined two by two [MPI_Allreduce]. Every rank computes
  /// op(… op(op(rank 0's, rank 1's), rank 2's) …) itself, in just this order: the results are
  /// identical to the bit, floating point included, and `op` need not be commutative.
  ///
  /// Completion: on return. @param op  any callable on two T; the same on all ranks. Cost: as
  /// allgather(), and p - 1 calls of `op`: meant for small values.
  template <Sendable T, class Op>
  requires std::is_invocable_r_v<T, Op&, const T&, const T&>
  [[nodiscard]] T allreduce(const T& mine, Op&& op) const {
    const auto all = gathered("Team::allreduce", std::span<const T>(&mine, 1));
    T result = all[0];
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(size()); ++rank)
      result = op(std::as_const(result), std::as_const(all[rank]));
    return result;
  }

  /// What allgather() and allreduce() are made of. @param operation  named in errors  @param all
  /// size() * mine.size() bytes. Errors: invalid_argument.
  void allgather_bytes(std::string_view operation, std::span<const std::byte> mine,
                       std::span<std::byte> all) const;
  /// What broadcast() is made of.
  void broadcast_bytes(std::span<std::byte> bytes, Rank root) const;

  explicit Team(std::shared_ptr<window::TeamState> state) noexcept;
  [[nodiscard]] const std::shared_ptr<window::TeamState>& state() const noexcept { return state_; }

 private:
  // An array, as std::vector<bool> has no bytes.
  template <class T>
  [[nodiscard]] auto gathered(std::string_view operation, std::span<const T> mine) const {
    const auto count = mine.size() * static_cast<std::size_t>(size());
    auto all = std::make_unique_for_overwrite<std::remove_const_t<T>[]>(count);
    allgather_bytes(operation, std::as_bytes(mine),
                    std::as_writable_bytes(std::span(all.get(), count)));
    return all;
  }

  std::shared_ptr<window::TeamState> state_;
};

}  // namespace oriel
