#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"

namespace oriel::runtime {

/// A rank as far as the choice of paths is concerned.
struct Locality {
  std::uint64_t host_id = 0;
  std::string host{};
};

enum class Path : std::uint8_t { shm, verbs };

struct PathPlan {
  std::vector<Path> path;  ///< to every rank
  std::vector<int> node;   ///< node number of every rank, as ORIEL_FAKE_NODES sees it, counted from
                           ///< 0 by first appearance
  bool needs_verbs = false;  ///< the same on every rank: somebody needs a device
  std::string reason;        ///< one sentence
};

/// Which path leads from `rank` to every rank. Pure. With `fake_nodes` k, the ranks of one host are
/// cut into k blocks that count as machines of their own. Errors: no_device (shm wanted, several
/// machines).
[[nodiscard]] PathPlan plan_paths(std::span<const Locality> ranks, int rank, base::Fabric fabric,
                                  int fake_nodes);

}  // namespace oriel::runtime
