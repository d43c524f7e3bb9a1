#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/peer_health.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/bounce_pool.hpp"
#include "transport/verbs/cm_event.hpp"
#include "transport/verbs/completion_queue.hpp"
#include "transport/verbs/connection_origin.hpp"
#include "transport/verbs/registered_ranges.hpp"
#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

/// What the lanes of a process have in common. Belongs to the transport.
struct LaneSettings {
  OriginSettings origin{};  ///< without a completion queue
  ibv_context* context = nullptr;
  int max_completions = 0;
  SharedRanges& ranges;
  transport::PeerHealth& health;
  std::string device_text{};  ///< "rxe0 port 1 gid 1 mtu 4096"
  std::uint32_t max_message_bytes = 0;
  bool read_after_writes = false;
  int peer_timeout_seconds = 0;
};

/// A completion queue, and a reliable connection per peer, made at first use: all that a thread
/// needs to go by itself.
///
/// Memory: 2 MiB of bounce slots and a completion queue of 8192 entries; about 100 KiB per peer
/// that was ever written to (256 work requests and their 128-byte payloads, here and in the
/// device).
class VerbsLane final : public transport::Lane {
 public:
  /// @param settings, peers  stay where they are as long as the lane lives
  VerbsLane(const LaneSettings& settings, std::span<const transport::Peer> peers);
  /// Gives what is still outstanding the peer timeout to finish, then disconnects.
  ~VerbsLane() override;

  [[nodiscard]] transport::Endpoint& endpoint(int world_rank) override;
  void for_each_endpoint(const std::function<void(transport::Endpoint&)>& visit) override;
  std::size_t progress() override;
  [[nodiscard]] std::size_t outstanding() const noexcept override { return cq_.outstanding(); }

  [[nodiscard]] std::uint32_t completions() const noexcept { return cq_.capacity(); }

 private:
  [[nodiscard]] EndpointServices make_services();
  void drain() noexcept;

  // In order of construction: each uses what is above it, and is gone before that goes.
  const LaneSettings& settings_;
  std::span<const transport::Peer> peers_;
  CompletionQueue cq_;
  RangesView ranges_;
  BouncePool bounce_;
  CmChannel channel_;
  std::vector<VerbsEndpoint*> staged_;
  EndpointServices services_;
  std::vector<std::unique_ptr<VerbsEndpoint>> endpoints_;  ///< by rank; made when asked for
};

}  // namespace oriel::verbs
