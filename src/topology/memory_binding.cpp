#include "topology/memory_binding.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

#include "topology/wording.hpp"

namespace oriel::topology {
namespace {

using Nodeset = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Nodeset make_nodeset() {
  Nodeset nodes(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (nodes == nullptr) throw std::bad_alloc();
  return nodes;
}

// Of a machine that is only described, hwloc would report success without asking the kernel.
bool is_this_machine(const Topology& topology) {
  return hwloc_topology_is_thissystem(topology.native()) != 0;
}

}  // namespace

MemoryBinding bind_memory(const Topology& topology, void* address, std::size_t length,
                          int numa_node) {
  const auto refuse = [&](std::string_view why) {
    return MemoryBinding{
        false, fmt::format("{} bytes not bound to NUMA node {}: {}", length, numa_node, why)};
  };
  if (!is_this_machine(topology)) return refuse("the topology does not describe this machine");
  if (std::ranges::count(topology.numa_nodes(), numa_node) == 0) {
    return refuse("this machine lets the process use only " +
                  describe_nodes(topology.numa_nodes()));
  }
  const Nodeset nodes = make_nodeset();
  hwloc_bitmap_only(nodes.get(), static_cast<unsigned>(numa_node));
  if (hwloc_set_area_membind(topology.native(), address, length, nodes.get(), HWLOC_MEMBIND_BIND,
                             HWLOC_MEMBIND_BYNODESET) != 0) {
    return refuse(std::generic_category().message(errno));
  }
  return {true, {}};
}

std::optional<std::vector<int>> memory_location(const Topology& topology, const void* address,
                                                std::size_t length) {
  if (!is_this_machine(topology)) return std::nullopt;
  const Nodeset nodes = make_nodeset();
  if (hwloc_get_area_memlocation(topology.native(), address, length, nodes.get(),
                                 HWLOC_MEMBIND_BYNODESET) != 0) {
    return std::nullopt;
  }
  std::vector<int> list;
  for (int node = hwloc_bitmap_first(nodes.get()); node != -1;
       node = hwloc_bitmap_next(nodes.get(), node)) {
    list.push_back(node);
  }
  return list;
}

}  // namespace oriel::topology
