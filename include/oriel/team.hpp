#pragma once
/// Teams: ordered sets of the job's ranks that create windows together [MPI communicators, groups].

#include <memory>
#include <string>
#include <string_view>

#include <oriel/export.hpp>
#include <oriel/rank.hpp>

namespace oriel {

namespace window {
class TeamState;
}

/// A team. Copies are cheap and mean the same team. Valid as long as its Runtime.
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
  /// Completion: on return, on every rank. Requires: called by all ranks of the team in the same
  /// order as its other collectives.
  /// @param color  any value; ranks with a negative color get a team of their own alone
  /// Errors: ErrorCode::peer_lost. Threads: one-at-a-time per team. Cost: a few bootstrap
  /// exchanges.
  [[nodiscard]] Team split(int color, int key = 0) const;

  /// Collective: returns on no rank before every rank has called it [MPI_Barrier]. Does not
  /// complete window operations. Threads: one-at-a-time per team. Cost: one bootstrap barrier.
  void barrier() const;

  explicit Team(std::shared_ptr<window::TeamState> state) noexcept;
  [[nodiscard]] const std::shared_ptr<window::TeamState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<window::TeamState> state_;
};

}  // namespace oriel
