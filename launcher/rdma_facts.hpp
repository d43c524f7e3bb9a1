#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "topology/placement.hpp"
#include "topology/topology.hpp"
#include "transport/verbs/device_choice.hpp"
#include "transport/verbs/device_inventory.hpp"

namespace oriel::launcher {

/// The RDMA devices of this machine and which one a rank that may run anywhere on it would take.
struct RdmaFacts {
  std::vector<verbs::DeviceInfo> devices{};
  std::vector<topology::DeviceLocality> localities{};  ///< one per device
  topology::Placement placement{};
  std::optional<verbs::DeviceChoice> choice{};
  std::string problem{};  ///< why there is no choice, in the library's words
};

[[nodiscard]] RdmaFacts look_at_devices(const topology::Topology& topology,
                                        const base::Options& options);

}  // namespace oriel::launcher
