#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace oriel::topology {

/// Where an RDMA device sits. No node: nobody knows, or it is as near to every node.
struct DeviceLocality {
  std::string name;
  std::optional<int> numa_node;

  friend bool operator==(const DeviceLocality&, const DeviceLocality&) = default;
};

/// Looks up each device by its verbs name ("mlx5_0"), in order: what hwloc knows, what sysfs says
/// of the device, and, for a soft device, the same two for the network interface under it.
///
/// Never fails: a device that nobody knows has no node. Tests point `sysfs` elsewhere.
std::vector<DeviceLocality> device_localities(const Topology& topology,
                                              std::span<const std::string> names,
                                              const std::filesystem::path& sysfs = "/sys");

}  // namespace oriel::topology
