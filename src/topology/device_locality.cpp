#include "topology/device_locality.hpp"

#include <hwloc.h>

#include <fstream>

namespace oriel::topology {
namespace {

namespace fs = std::filesystem;

std::optional<int> node_by_hwloc(const Topology& topology, const std::string& name) {
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_osdev(topology.native(), device)) != nullptr) {
    if (device->name == nullptr || name != device->name) continue;
    const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology.native(), device);
    if (place == nullptr || place->cpuset == nullptr) return std::nullopt;
    const auto homes = topology.home_nodes(CpuSet::copy_of(place->cpuset));
    if (homes.size() == 1) return homes.front();
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int> node_in_file(const fs::path& file) {
  int node = -1;  // the kernel's own word for "unknown"
  std::ifstream(file) >> node;
  return node >= 0 ? std::optional(node) : std::nullopt;
}

std::optional<int> node_of(const Topology& topology, const fs::path& entry) {
  if (const auto node = node_by_hwloc(topology, entry.filename().string())) return node;
  if (const auto node = node_in_file(entry / "device" / "numa_node")) return node;
  // A virtio interface hangs below its PCI device, and only the latter has a node.
  return node_in_file(entry / "device" / ".." / "numa_node");
}

}  // namespace

std::vector<DeviceLocality> device_localities(const Topology& topology,
                                              std::span<const std::string> names,
                                              const fs::path& sysfs) {
  std::vector<DeviceLocality> localities;
  for (const std::string& name : names) {
    const fs::path entry = sysfs / "class" / "infiniband" / name;
    std::optional<int> node = node_of(topology, entry);
    std::string interface;
    if (!node && std::ifstream(entry / "parent") >> interface) {
      node = node_of(topology, sysfs / "class" / "net" / interface);
    }
    localities.push_back({name, node});
  }
  return localities;
}

}  // namespace oriel::topology
