#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/device_locality.hpp"
#include "topology/topology.hpp"

namespace oriel::topology {

/// From near to far. An unknown place is taken for neither near nor far.
enum class DeviceDistance : std::uint8_t { same_node, same_package, unknown, other_package };

/// "same NUMA node", "same package", "unknown distance", "other package"
std::string_view to_string(DeviceDistance distance);

struct DeviceChoice {
  std::string name;
  DeviceDistance distance = DeviceDistance::unknown;
};

/// Where a rank's memory belongs and which device it should talk through.
struct Placement {
  std::optional<int> numa_node;       ///< none if the rank's CPUs have several homes
  std::optional<std::string> device;  ///< none only if there is no device at all
  std::vector<DeviceChoice> devices;  ///< every device, in the order given
  std::string reason;                 ///< one readable line: what was chosen, and why
};

/// Decides for one rank that runs on `rank_cpus`. Pure: no look at the machine.
///
/// Of the nearest devices the rank takes the one whose turn it is: number `turn` modulo their
/// count. A rank with several homes counts its distance from the nearest of them.
/// @param devices  candidates that would all do; leave out those whose port is down
/// @param turn  the rank's index among the ranks of this machine; better, where it is known, among
///              those with the same home. The former spreads well only if neighbouring ranks share
///              a node, as plan_binding() places them.
Placement choose_placement(const Topology& topology, const CpuSet& rank_cpus,
                           std::span<const DeviceLocality> devices, unsigned turn);

}  // namespace oriel::topology
