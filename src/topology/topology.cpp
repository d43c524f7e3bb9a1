#include "topology/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "topology/wording.hpp"

namespace oriel::topology {
namespace {

[[noreturn]] void fail(std::string_view operation, std::string_view hint) {
  const int code = errno;
  throw std::runtime_error(
      fmt::format("{}: {}; {}", operation, std::generic_category().message(code), hint));
}

/// Walks from a CPU outwards to the first level that has memory; the first memory there is DRAM.
hwloc_obj_t home_of(hwloc_obj_t cpu) {
  for (hwloc_obj_t place = cpu; place != nullptr; place = place->parent) {
    hwloc_obj_t memory = place->memory_first_child;
    while (memory != nullptr && memory->type != HWLOC_OBJ_NUMANODE) {
      memory = memory->memory_first_child;  // a memory-side cache in front of its node
    }
    if (memory != nullptr) return memory;
  }
  return nullptr;
}

CpuSet affinity_mask(hwloc_topology_t topology) {
  CpuSet fallback = CpuSet::copy_of(hwloc_topology_get_allowed_cpuset(topology));
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> mask(hwloc_bitmap_alloc(),
                                                                           &hwloc_bitmap_free);
  if (mask == nullptr) throw std::bad_alloc();
  // The union over all threads: a main thread pinned by some other library is not the whole rank.
  if (hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_PROCESS) != 0) return fallback;
  return CpuSet::copy_of(mask.get());
}

}  // namespace

void Topology::Destroy::operator()(hwloc_topology* topology) const noexcept {
  hwloc_topology_destroy(topology);
}

Topology::Topology(Handle handle, const CpuSet& mask)
    : handle_(std::move(handle)),
      usable_(CpuSet::copy_of(hwloc_topology_get_allowed_cpuset(native())) & mask) {
  if (usable_.empty()) {
    throw std::runtime_error(fmt::format(
        "machine topology: none of the CPUs this process may use ({}) is in the topology ({}); "
        "unset HWLOC_XMLFILE and HWLOC_SYNTHETIC, or widen the affinity mask",
        mask.to_string(),
        CpuSet::copy_of(hwloc_topology_get_allowed_cpuset(native())).to_string()));
  }
}

Topology::Handle Topology::make_handle() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail("hwloc_topology_init", "is memory exhausted?");
  Handle handle(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Most of these would start GPU drivers or call an X server to list devices nobody here asks for.
  // "pci" (libpciaccess) leaks; without it hwloc reads the same devices, unnamed, from sysfs.
  for (const char* component : {"cuda", "gl", "levelzero", "nvml", "opencl", "pci", "rsmi"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  return handle;
}

Topology Topology::load(Handle handle, std::string_view origin, std::optional<CpuSet> usable) {
  if (hwloc_topology_load(handle.get()) != 0) {
    fail(fmt::format("cannot load the topology of {}", origin), "does `lstopo` show it?");
  }
  const CpuSet mask = usable ? *std::move(usable) : affinity_mask(handle.get());
  return Topology(std::move(handle), mask);
}

Topology Topology::discover() {
  // hwloc looks at devices through libudev, which is not made for two threads at a time.
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  Handle handle = make_handle();
  // Only matters for HWLOC_XMLFILE with HWLOC_THISSYSTEM=1: then the cgroup must still be obeyed.
  hwloc_topology_set_flags(handle.get(), HWLOC_TOPOLOGY_FLAG_THISSYSTEM_ALLOWED_RESOURCES);
  return load(std::move(handle), "this machine", std::nullopt);
}

Topology Topology::from_synthetic(std::string_view description, std::optional<CpuSet> usable) {
  Handle handle = make_handle();
  if (hwloc_topology_set_synthetic(handle.get(), std::string(description).c_str()) != 0) {
    fail(fmt::format("cannot understand the synthetic topology '{}'", description),
         "write levels from the outside in, such as 'pack:2 numa:1 core:8 pu:2'");
  }
  return load(std::move(handle), description, std::move(usable));
}

Topology Topology::from_xml(std::string_view xml, std::optional<CpuSet> usable) {
  Handle handle = make_handle();
  const std::string text(xml);
  const int length_with_zero = static_cast<int>(text.size() + 1);
  if (hwloc_topology_set_xmlbuffer(handle.get(), text.c_str(), length_with_zero) != 0) {
    fail("cannot read the XML topology", "is it an export by `lstopo --of xml`?");
  }
  return load(std::move(handle), "the given XML", std::move(usable));
}

bool Topology::all_cpus_usable() const {
  return usable_ == CpuSet::copy_of(hwloc_topology_get_allowed_cpuset(native()));
}

std::vector<CpuSet> Topology::usable_cores() const {
  const bool has_cores = hwloc_get_nbobjs_by_type(native(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<CpuSet> cores;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(native(), type, core)) != nullptr) {
    const CpuSet cpus = CpuSet::copy_of(core->cpuset) & usable_;
    if (!cpus.empty()) cores.push_back(cpus);
  }
  return cores;
}

std::vector<int> Topology::numa_nodes() const {
  std::set<int> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(native(), HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    nodes.insert(static_cast<int>(node->os_index));
  }
  return {nodes.begin(), nodes.end()};
}

std::vector<int> Topology::home_nodes(const CpuSet& cpus) const {
  std::set<int> nodes;
  hwloc_obj_t cpu = nullptr;
  while ((cpu = hwloc_get_next_obj_by_type(native(), HWLOC_OBJ_PU, cpu)) != nullptr) {
    if (!cpus.contains(cpu->os_index)) continue;
    if (const hwloc_obj_t home = home_of(cpu)) nodes.insert(static_cast<int>(home->os_index));
  }
  return {nodes.begin(), nodes.end()};
}

bool Topology::in_one_package(int node, int other_node) const {
  const auto package = [this](int index) -> hwloc_obj_t {
    if (index < 0) return nullptr;
    const auto found = hwloc_get_numanode_obj_by_os_index(native(), static_cast<unsigned>(index));
    return found == nullptr ? nullptr
                            : hwloc_get_ancestor_obj_by_type(native(), HWLOC_OBJ_PACKAGE, found);
  };
  const hwloc_obj_t first = package(node);
  return first != nullptr && first == package(other_node);
}

std::string Topology::describe() const {
  const int packages = hwloc_get_nbobjs_by_type(native(), HWLOC_OBJ_PACKAGE);
  std::string text =
      fmt::format("{}, {}, {}, {} usable", counted(static_cast<std::size_t>(packages), "package"),
                  counted(numa_nodes().size(), "NUMA node"), counted(usable_cores().size(), "core"),
                  counted(usable_.count(), "PU"));
  if (!all_cpus_usable()) {
    const int all = hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(native()));
    text += fmt::format(" (affinity mask {} of {} PUs)", usable_.to_string(), all);
  }
  return text;
}

}  // namespace oriel::topology
