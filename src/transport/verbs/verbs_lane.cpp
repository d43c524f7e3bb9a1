#include "transport/verbs/verbs_lane.hpp"

#include <chrono>
#include <thread>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "transport/verbs/completion_poller.hpp"
#include "transport/verbs/peer_address.hpp"

namespace oriel::verbs {

VerbsLane::VerbsLane(const LaneSettings& settings, std::span<const transport::Peer> peers)
    : settings_(settings),
      peers_(peers),
      cq_(settings.context, settings.max_completions, settings.origin.where),
      ranges_(settings.ranges),
      bounce_(settings.origin.pd),
      services_(make_services()) {
  endpoints_.resize(peers_.size());
  staged_.reserve(peers_.size());
}

EndpointServices VerbsLane::make_services() {
  EndpointServices services{.origin = settings_.origin,
                            .cq = cq_,
                            .ranges = ranges_,
                            .bounce = bounce_,
                            .channel = channel_,
                            .health = settings_.health,
                            .staged = staged_,
                            .endpoints = endpoints_,
                            .device_text = settings_.device_text,
                            .max_message_bytes = settings_.max_message_bytes,
                            .read_after_writes = settings_.read_after_writes};
  services.origin.cq = cq_.get();
  return services;
}

VerbsLane::~VerbsLane() {
  drain();
}

/// The last thing many ranks do is to tell the others that they are done: that write must arrive,
/// so queue pairs go only when nothing is outstanding, or when a dead peer had its time.
void VerbsLane::drain() noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(settings_.peer_timeout_seconds + 1);
  while (outstanding() > 0 && Clock::now() < deadline) {
    ConnectionOrigin::dispatch(channel_);
    for (const auto& endpoint : endpoints_) {
      if (endpoint != nullptr) endpoint->finish_up();
    }
    if (progress() == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (outstanding() > 0) {
    base::log(base::LogLevel::warning, "verbs: {} operations were not finished at the end",
              outstanding());
  }
}

transport::Endpoint& VerbsLane::endpoint(int world_rank) {
  auto& endpoint = endpoints_.at(static_cast<std::size_t>(world_rank));
  if (endpoint != nullptr) return *endpoint;
  const transport::Peer& peer = peers_[static_cast<std::size_t>(world_rank)];
  const PeerAddress address = PeerAddress::from_bytes(peer.address);
  if (address.magic != PeerAddress::kMagic) {
    base::throw_error(
        ErrorCode::connection_failed,
        {.operation = "connect",
         .problem = "the peer has no RDMA address, or one of another byte order",
         .origin = settings_.origin.rank,
         .target = world_rank,
         .target_host = peer.host,
         .device = settings_.origin.where,
         .hint = "all hosts of a job need an RDMA device: see oriel-info on that host"});
  }
  endpoint = std::make_unique<VerbsEndpoint>(services_, world_rank, peer.host, address);
  return *endpoint;
}

void VerbsLane::for_each_endpoint(const std::function<void(transport::Endpoint&)>& visit) {
  for (const auto& endpoint : endpoints_) {
    if (endpoint != nullptr) visit(*endpoint);
  }
}

std::size_t VerbsLane::progress() {
  for (VerbsEndpoint* endpoint : staged_) endpoint->post_listed();
  staged_.clear();
  return poll_completions(cq_, endpoints_);
}

}  // namespace oriel::verbs
