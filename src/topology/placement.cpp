#include "topology/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/wording.hpp"

namespace oriel::topology {
namespace {

DeviceDistance distance_from(const Topology& topology, const std::vector<int>& homes,
                             const DeviceLocality& device) {
  if (!device.numa_node || homes.empty()) return DeviceDistance::unknown;
  const auto shares_node = [&](int home) { return home == *device.numa_node; };
  const auto shares_package = [&](int home) {
    return topology.in_one_package(home, *device.numa_node);
  };
  if (std::ranges::any_of(homes, shares_node)) return DeviceDistance::same_node;
  if (std::ranges::any_of(homes, shares_package)) return DeviceDistance::same_package;
  return DeviceDistance::other_package;
}

std::string explain_memory(const CpuSet& rank_cpus, const std::vector<int>& homes) {
  std::string text =
      fmt::format("memory: CPUs {} are on {}", rank_cpus.to_string(), describe_nodes(homes));
  if (homes.size() != 1) text += ", so pages stay where they are first touched";
  return text;
}

/// Chooses among `placement.devices` and tells why.
std::string choose_device(Placement& placement, unsigned turn) {
  if (placement.devices.empty()) return "device: none";
  const auto nearest = std::ranges::min(placement.devices, {}, &DeviceChoice::distance).distance;
  std::vector<std::string> equals;
  for (const DeviceChoice& device : placement.devices) {
    if (device.distance == nearest) equals.push_back(device.name);
  }
  const std::size_t index = turn % equals.size();
  placement.device = equals[index];

  std::string text = fmt::format("device: {}, {}", equals[index], to_string(nearest));
  if (placement.devices.size() == 1) return text + ", the only one";
  if (equals.size() == 1) {
    return text + fmt::format(", nearest of {}", placement.devices.size());
  }
  return text + fmt::format(", turn {} takes number {} of {} equally near", turn, index + 1,
                            equals.size());
}

}  // namespace

std::string_view to_string(DeviceDistance distance) {
  switch (distance) {
    case DeviceDistance::same_node:
      return "same NUMA node";
    case DeviceDistance::same_package:
      return "same package";
    case DeviceDistance::other_package:
      return "other package";
    case DeviceDistance::unknown:
      break;
  }
  return "unknown distance";
}

Placement choose_placement(const Topology& topology, const CpuSet& rank_cpus,
                           std::span<const DeviceLocality> devices, unsigned turn) {
  const std::vector<int> homes = topology.home_nodes(rank_cpus);
  Placement placement;
  if (homes.size() == 1) placement.numa_node = homes.front();
  for (const DeviceLocality& device : devices) {
    placement.devices.push_back({device.name, distance_from(topology, homes, device)});
  }
  const std::string device_reason = choose_device(placement, turn);
  placement.reason = fmt::format("{}; {}", explain_memory(rank_cpus, homes), device_reason);
  return placement;
}

}  // namespace oriel::topology
