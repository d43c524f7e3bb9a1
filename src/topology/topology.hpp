#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/cpu_set.hpp"

struct hwloc_topology;

namespace oriel::topology {

/// What a machine looks like, and which part of it this process may use. NUMA nodes and CPUs carry
/// the operating system's numbers.
///
/// *Usable* CPUs are those that both the machine's rules for this process (its cgroup) and the
/// process's own affinity mask allow, as they were at discovery; discover before threads are
/// pinned. The *home* of a CPU is the NUMA node nearest to it, where its first-touched pages go.
/// Memory that is nobody's home (high-bandwidth memory beside DRAM, memory expanders) never counts
/// as one.
///
/// Threads: any, for every const member.
class Topology {
 public:
  /// This machine with its I/O devices; or the one that HWLOC_XMLFILE or HWLOC_SYNTHETIC describe.
  /// Errors: std::runtime_error if it cannot be read, or shares no CPU with the process's mask.
  static Topology discover();
  /// A machine described in hwloc's words, "pack:2 numa:2 core:8 pu:2". `usable` stands in for the
  /// affinity mask; by default all CPUs are usable.
  /// Errors: std::runtime_error if hwloc does not understand the text, or no CPU is usable.
  static Topology from_synthetic(std::string_view description, std::optional<CpuSet> usable = {});
  /// As from_synthetic(), but from the text of an XML export (`lstopo --of xml`), devices included.
  static Topology from_xml(std::string_view xml, std::optional<CpuSet> usable = {});

  [[nodiscard]] const CpuSet& usable_cpus() const { return usable_; }
  /// False if an affinity mask hides CPUs that the machine would let this process use.
  [[nodiscard]] bool all_cpus_usable() const;
  /// The usable CPUs of each core that has any, neighbours together; without known cores, each CPU.
  [[nodiscard]] std::vector<CpuSet> usable_cores() const;

  [[nodiscard]] std::vector<int> numa_nodes() const;
  /// The homes of `cpus`, ascending. {usable_cpus()} gives those of this process.
  [[nodiscard]] std::vector<int> home_nodes(const CpuSet& cpus) const;
  /// False also if a node lies outside this machine or in no package.
  [[nodiscard]] bool in_one_package(int node, int other_node) const;

  /// "1 package, 1 NUMA node, 2 cores, 2 PUs usable" (a PU is one hardware thread)
  [[nodiscard]] std::string describe() const;

  /// For src/topology only.
  [[nodiscard]] hwloc_topology* native() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const noexcept;
  };
  using Handle = std::unique_ptr<hwloc_topology, Destroy>;

  Topology(Handle handle, const CpuSet& mask);
  static Handle make_handle();
  static Topology load(Handle handle, std::string_view origin, std::optional<CpuSet> usable);

  Handle handle_;
  CpuSet usable_;
};

}  // namespace oriel::topology
