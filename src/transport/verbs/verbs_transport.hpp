#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "transport/peer_health.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/bounce_pool.hpp"
#include "transport/verbs/cm_event.hpp"
#include "transport/verbs/completion_queue.hpp"
#include "transport/verbs/connection_listener.hpp"
#include "transport/verbs/device_choice.hpp"
#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/registered_memory.hpp"
#include "transport/verbs/registered_ranges.hpp"
#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

/// RDMA: one device port, protection domain and completion queue per process; a reliable connection
/// per peer, made at first use.
///
/// Memory: 2 MiB of bounce slots and the completion queue (8192 entries) per process; about 100 KiB
/// per peer that was ever written to (256 work requests and their 128-byte payloads, here and in
/// the device), a few KiB per peer that ever wrote here.
class VerbsTransport final : public transport::Transport {
 public:
  /// Opens the device and listens.
  /// @param preferred_device  the nearest one, "" if nobody knows; ORIEL_DEVICE comes first
  /// @param job_nonce  the same for all ranks of a job, and of no other job
  /// Errors: no_device, locked_memory_limit, out_of_memory, transport_failed.
  VerbsTransport(const base::Options& options, const std::string& preferred_device, int world_rank,
                 std::uint64_t job_nonce, transport::PeerHealth& health);
  /// Gives what is still outstanding the peer timeout to finish, then disconnects.
  ~VerbsTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "verbs"; }
  [[nodiscard]] transport::Capabilities capabilities() const noexcept override;
  [[nodiscard]] transport::AddressBytes address() const noexcept override;
  void meet(std::span<const transport::Peer> peers) override;
  [[nodiscard]] transport::Endpoint& endpoint(int world_rank) override;
  [[nodiscard]] std::unique_ptr<transport::ExposedMemory> expose(
      const transport::LocalMemory& memory) override;
  [[nodiscard]] std::unique_ptr<transport::PeerMemory> attach(
      int world_rank, const transport::RegionDescriptor& region) override;
  std::size_t progress() override;
  [[nodiscard]] std::size_t outstanding() const noexcept override { return cq_.outstanding(); }
  [[nodiscard]] std::string describe() const override;

 private:
  [[nodiscard]] EndpointServices make_services(const base::Options& options, int world_rank,
                                               std::uint64_t job_nonce,
                                               transport::PeerHealth& health);
  [[nodiscard]] ListenerIdentity make_identity(std::uint64_t job_nonce) const;
  void drain() noexcept;

  // In order of construction: each uses what is above it, and is gone before that goes.
  int rank_;
  int peer_timeout_seconds_;
  std::uint64_t incarnation_;
  DeviceChoice choice_;
  bool strictly_ordered_;
  ListeningAddress listening_;
  PdHandle pd_;
  CompletionQueue cq_;
  RegisteredRanges ranges_;
  BouncePool bounce_;
  RegisteredBlock visibility_word_;
  CmChannel channel_;  ///< of the outgoing connections
  std::vector<transport::Peer> peers_;
  std::vector<VerbsEndpoint*> staged_;
  EndpointServices services_;
  ConnectionListener listener_;
  std::vector<std::unique_ptr<VerbsEndpoint>> endpoints_;  ///< by rank; made when asked for
};

}  // namespace oriel::verbs
