#pragma once

#include <span>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/peer_health.hpp"
#include "transport/transport.hpp"

namespace oriel::shm {

/// Learns of the death of processes on this machine within milliseconds, by pidfds that one
/// sleeping thread polls: no heartbeat, and a peer that merely computes or is stopped stays alive.
class PeerWatch {
 public:
  /// Watches `peers`; those in this very process (ranks as threads) are left out.
  PeerWatch(std::span<const transport::Peer* const> peers, transport::PeerHealth& health);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

 private:
  struct Watched {
    const transport::Peer* peer;
    base::UniqueFd pidfd;
  };
  void run();

  transport::PeerHealth& health_;
  std::vector<Watched> watched_;
  base::UniqueFd stop_;
  std::thread thread_;
};

}  // namespace oriel::shm
