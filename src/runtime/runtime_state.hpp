#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <oriel/team.hpp>

#include "base/host.hpp"
#include "base/options.hpp"
#include "bootstrap/bootstrap.hpp"
#include "runtime/path_plan.hpp"
#include "runtime/start_record.hpp"
#include "topology/placement.hpp"
#include "topology/topology.hpp"
#include "transport/buffer.hpp"
#include "transport/lanes.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"
#include "window/request_pool.hpp"
#include "window/team_state.hpp"

namespace oriel::shm {
class ShmTransport;
}
namespace oriel::verbs {
class VerbsTransport;
}

namespace oriel::runtime {

/// Everything of one process: made in the order of the members, released in reverse.
class RuntimeState {
 public:
  /// Collective over `group`. Errors: see oriel::Runtime; thrown on every rank.
  /// @param environment  "NAME=value" lines, from which the ORIEL_* options are read
  RuntimeState(std::unique_ptr<bootstrap::Bootstrap> group,
               const std::vector<std::string>& environment);
  ~RuntimeState();
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;

  [[nodiscard]] const Team& world() const noexcept { return *world_; }
  [[nodiscard]] const Team& node() const noexcept { return *node_; }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] const window::JobContext& job() const noexcept { return job_; }

 private:
  [[nodiscard]] StartRecord make_record(const std::vector<std::string>& environment);
  void plan(std::span<const StartRecord> records);
  void start_shm(std::span<const StartRecord> records);
  void start_verbs(std::span<const StartRecord> records);
  topology::Placement choose_placement(std::span<const std::string> devices, unsigned turn);
  void make_teams();
  [[nodiscard]] Team make_team(std::optional<int> node);
  void leave() noexcept;
  void wait_for_all();
  [[nodiscard]] std::vector<transport::Peer> peers(std::span<const StartRecord> records) const;
  void place(std::span<std::byte> memory) const;
  [[nodiscard]] std::string describe_machine() const;
  [[nodiscard]] bool oversubscribed(std::span<const StartRecord> records) const;

  std::unique_ptr<bootstrap::Bootstrap> group_;  // used at the start alone; the last to go
  int rank_;
  int exceptions_at_start_;
  base::Options options_;
  base::HostIdentity host_;
  std::optional<topology::Topology> topology_;  // if there was something to choose
  std::optional<int> numa_node_;
  std::string placement_;  // readable
  PathPlan paths_;
  transport::PeerHealth health_;
  std::unique_ptr<shm::ShmTransport> shm_;
  std::unique_ptr<verbs::VerbsTransport> verbs_;
  std::vector<transport::Transport*> transports_;
  std::optional<transport::Progress> progress_;
  std::optional<transport::Lanes> lanes_;  // with verbs
  transport::BufferSegments buffers_;
  std::optional<window::RequestPool> requests_;
  window::JobContext job_;
  std::optional<Team> world_;
  std::optional<Team> node_;
};

}  // namespace oriel::runtime
