#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "transport/peer_health.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/connection_listener.hpp"
#include "transport/verbs/device_choice.hpp"
#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/registered_memory.hpp"
#include "transport/verbs/registered_ranges.hpp"
#include "transport/verbs/verbs_lane.hpp"

namespace oriel::verbs {

/// RDMA: one device port and protection domain per process, and lanes: one that goes with the
/// transport, and more for threads of their own.
///
/// Memory: that of its lanes; and a few KiB per peer that ever wrote here.
class VerbsTransport final : public transport::Transport {
 public:
  /// Opens the device and listens.
  /// @param preferred_device  the nearest one, "" if nobody knows; ORIEL_DEVICE comes first
  /// @param job_nonce  the same for all ranks of a job, and of no other job
  /// Errors: no_device, locked_memory_limit, out_of_memory, transport_failed.
  VerbsTransport(const base::Options& options, const std::string& preferred_device, int world_rank,
                 std::uint64_t job_nonce, transport::PeerHealth& health);
  ~VerbsTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "verbs"; }
  [[nodiscard]] transport::Capabilities capabilities() const noexcept override;
  [[nodiscard]] transport::AddressBytes address() const noexcept override;
  void meet(std::span<const transport::Peer> peers) override;
  [[nodiscard]] transport::Endpoint& endpoint(int world_rank) override {
    return lane_->endpoint(world_rank);
  }
  [[nodiscard]] std::unique_ptr<transport::ExposedMemory> expose(
      const transport::LocalMemory& memory) override;
  [[nodiscard]] std::unique_ptr<transport::PeerMemory> attach(
      int world_rank, const transport::RegionDescriptor& region) override;
  void for_each_endpoint(const std::function<void(transport::Endpoint&)>& visit) override {
    lane_->for_each_endpoint(visit);
  }
  std::size_t progress() override { return lane_->progress(); }
  [[nodiscard]] std::size_t outstanding() const noexcept override { return lane_->outstanding(); }
  [[nodiscard]] std::string describe() const override;

  /// One more lane; goes before the transport. Requires: after meet(). Threads: any. Errors:
  /// out_of_memory, locked_memory_limit, transport_failed.
  [[nodiscard]] std::unique_ptr<transport::Lane> make_lane() const {
    return std::make_unique<VerbsLane>(settings_, peers_);
  }

 private:
  [[nodiscard]] LaneSettings make_settings(const base::Options& options, int world_rank,
                                           std::uint64_t job_nonce, transport::PeerHealth& health);
  [[nodiscard]] ListenerIdentity make_identity(std::uint64_t job_nonce) const;

  // In order of construction: each uses what is above it, and is gone before that goes.
  int rank_;
  std::uint64_t incarnation_;
  DeviceChoice choice_;
  bool strictly_ordered_;
  ListeningAddress listening_;
  PdHandle pd_;
  SharedRanges ranges_;
  RegisteredBlock visibility_word_;
  LaneSettings settings_;
  ConnectionListener listener_;
  std::vector<transport::Peer> peers_;
  std::optional<VerbsLane> lane_;  ///< since meet()
};

}  // namespace oriel::verbs
