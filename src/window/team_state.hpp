#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"
#include "transport/transport.hpp"

namespace oriel::window {

/// A rank of the job as windows need it.
struct JobRank {
  std::string host{};
  int node = 0;                               ///< ranks with equal numbers share a machine
  transport::Transport* transport = nullptr;  ///< the path to it
};

/// What the runtime lends to its teams and windows; outlives them all.
struct JobContext {
  int world_rank = 0;
  std::vector<JobRank> ranks;  ///< by world rank
  transport::Transport* verbs = nullptr;
  transport::Progress* progress = nullptr;
  transport::PeerHealth* health = nullptr;
  std::function<void(std::span<std::byte>)>
      place_memory;  ///< binds fresh memory near the rank's cores
  bool broken =
      false;  ///< a collective was left by an error: nobody waits for the others at the end
};

/// A team: some ranks of the job in an order of their own, and the means to exchange records among
/// them.
class TeamState {
 public:
  /// @param members  world ranks, in team order; `group` has the same ranks in the same order
  TeamState(JobContext& job, std::unique_ptr<bootstrap::Bootstrap> group, std::vector<int> members)
      : job_(job), group_(std::move(group)), members_(std::move(members)) {}

  [[nodiscard]] JobContext& job() const noexcept { return job_; }
  [[nodiscard]] bootstrap::Bootstrap& group() const noexcept { return *group_; }
  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  [[nodiscard]] int rank() const noexcept { return group_->rank(); }
  [[nodiscard]] int size() const noexcept { return group_->size(); }
  /// Errors: invalid_rank.
  [[nodiscard]] int world_rank(std::string_view operation, int member) const;
  [[nodiscard]] const JobRank& job_rank(std::string_view operation, int member) const;
  /// Number of the team's next window: collective calls come in the same order everywhere, so all
  /// ranks count alike.
  [[nodiscard]] std::uint64_t next_window() noexcept { return windows_++; }

 private:
  JobContext& job_;
  std::unique_ptr<bootstrap::Bootstrap> group_;
  std::vector<int> members_;
  std::uint64_t windows_ = 0;
};

/// Collective over `parent`: see Team::split.
[[nodiscard]] std::shared_ptr<TeamState> split(const TeamState& parent, int color, int key);

}  // namespace oriel::window
