#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/shared_segment.hpp"
#include "bootstrap/exchange.hpp"
#include "sync/collectives.hpp"
#include "window/job_context.hpp"
#include "window/team_memory.hpp"

namespace oriel::window {

/// A team: some ranks of the job in an order of their own, and collectives among them.
///
/// The words and mailboxes of the collectives lie in a segment of the team's own, of which each
/// rank has attached those of its partners: ceil(log2 p) there and as many back. A team goes
/// without asking the others, with its last handle (see the invariant of Collectives); after an
/// error, when that does not hold, its memory stays until the end of the runtime.
class TeamState {
 public:
  /// Makes this rank's segment and exposes it; made whole by make_team().
  /// @param members  world ranks, in team order, this rank among them
  TeamState(JobContext& job, std::vector<int> members);
  ~TeamState();
  TeamState(const TeamState&) = delete;
  TeamState& operator=(const TeamState&) = delete;

  [[nodiscard]] JobContext& job() const noexcept { return *job_; }
  /// Whose turn it is; collectives and the end of a team come in one. Errors: window_freed.
  [[nodiscard]] transport::Progress& progress(std::string_view operation) const;
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  /// Errors: invalid_rank.
  [[nodiscard]] int world_rank(std::string_view operation, int member) const;
  /// Errors: invalid_rank; window_freed when the runtime has ended.
  [[nodiscard]] const JobRank& job_rank(std::string_view operation, int member) const;
  /// Number of the team's next window: collective calls come in the same order everywhere, so all
  /// ranks count alike.
  [[nodiscard]] std::uint64_t next_window() noexcept { return windows_++; }

  // See sync::Collectives. Errors: as there; window_freed; broadcast: invalid_rank.
  void barrier(std::string_view operation);
  void allgather(std::string_view operation, std::span<const std::byte> mine,
                 std::span<std::byte> all);
  void broadcast(std::string_view operation, std::span<std::byte> bytes, int root);

  /// Leaves for good: whoever waits for this rank gets an error instead, which blames whom the
  /// job's first error blamed.
  void give_up() noexcept;
  /// Lets go of all that belongs to the runtime, which ends; what handles there still are find a
  /// team without collectives.
  void release() noexcept;
  /// What becomes of a team that has no handle any more.
  static void drop(std::unique_ptr<TeamState> team) noexcept;

  // For make_team():
  [[nodiscard]] const MemoryRecord& record() const noexcept { return record_; }
  /// Attaches the partners. @param records  of all members, in team order
  void attach(std::span<const MemoryRecord> records);
  /// All members have attached what they need.
  void close_descriptor() noexcept { segment_->close_fd(); }

 private:
  template <class Call>
  void collectively(std::string_view operation, Call&& call);
  void check_open(std::string_view operation) const;

  JobContext* job_;  // null: the runtime has ended
  std::vector<int> members_;
  int rank_;
  int exceptions_at_start_;
  std::uint64_t windows_ = 0;

  // In the order of their making; released in reverse.
  std::unique_ptr<base::SharedSegment> segment_;  // Collectives::area_bytes(), whole pages
  std::unique_ptr<TeamMemory> memory_;
  std::unique_ptr<sync::Collectives> collectives_;
  MemoryRecord record_{};
};

/// A team as bootstrap::agree() and its like take a group, within the collective call `operation`.
class TeamGroup {
 public:
  TeamGroup(TeamState& team, std::string_view operation) noexcept
      : team_(team), operation_(operation) {}
  [[nodiscard]] std::vector<std::byte> allgather(std::span<const std::byte> mine) const {
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(team_.size()));
    team_.allgather(operation_, mine, all);
    return all;
  }

 private:
  TeamState& team_;
  std::string_view operation_;
};

/// A member of a team to be: its world rank, and its place in the group that makes the team.
struct Candidate {
  int world_rank = 0;
  int place = 0;
};

/// Collective over `group`, each rank with the members of its own new team: makes that team.
/// Errors: as allgather_agreed(). Cost: two allgathers, and a mapping per partner on the node.
template <bootstrap::Group Group>
[[nodiscard]] std::shared_ptr<TeamState> make_team(JobContext& job, Group& group,
                                                   std::string_view operation,
                                                   std::span<const Candidate> candidates) {
  std::unique_ptr<TeamState> team;
  const auto all = bootstrap::allgather_agreed(group, operation, [&] {
    std::vector<int> members;
    for (const Candidate& one : candidates) members.push_back(one.world_rank);
    team = std::make_unique<TeamState>(job, std::move(members));
    return team->record();
  });
  bootstrap::agree(group, operation, [&] {
    std::vector<MemoryRecord> records;
    for (const Candidate& one : candidates)
      records.push_back(all[static_cast<std::size_t>(one.place)]);
    team->attach(records);
  });
  team->close_descriptor();
  return {team.release(),
          [](TeamState* last) { TeamState::drop(std::unique_ptr<TeamState>(last)); }};
}

/// Collective over `parent`: see Team::split.
[[nodiscard]] std::shared_ptr<TeamState> split(TeamState& parent, int color, int key);

}  // namespace oriel::window
