#include "transport/peer_health.hpp"

#include <algorithm>
#include <utility>

namespace oriel::transport {

std::string PeerHealth::host(int world_rank) const {
  const auto index = static_cast<std::size_t>(world_rank);
  return world_rank >= 0 && index < hosts_.size() ? hosts_[index] : std::string();
}

void PeerHealth::report_dead(int world_rank, std::string how) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::any_of(dead_, [&](const Death& d) { return d.rank == world_rank; })) return;
  dead_.push_back({world_rank, host(world_rank), std::move(how)});
  count_.store(static_cast<std::uint32_t>(dead_.size()), std::memory_order_release);
}

std::vector<PeerHealth::Death> PeerHealth::list() const {
  const std::scoped_lock lock(mutex_);
  return dead_;
}

std::optional<PeerHealth::Death> PeerHealth::find(int world_rank) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(dead_, world_rank, &Death::rank);
  if (found == dead_.end()) return std::nullopt;
  return *found;
}

}  // namespace oriel::transport
