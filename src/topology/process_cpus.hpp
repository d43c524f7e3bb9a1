#pragma once

#include <filesystem>

#include "topology/cpu_set.hpp"

namespace oriel::topology {

// What the kernel says at once. Topology::discover() knows more, but looks at the whole machine and
// all its devices, which takes tens of milliseconds.

/// The CPUs on which some thread of this process may run: what Topology::usable_cpus() says of this
/// machine. The kernel has already left out what the process's cgroup forbids.
///
/// Never fails: where /proc is not there, the calling thread speaks for all.
[[nodiscard]] CpuSet process_cpus();

/// Whether it matters on which node memory lies. False also if nobody knows of any node. Tests
/// point `sysfs` elsewhere.
[[nodiscard]] bool has_several_numa_nodes(const std::filesystem::path& sysfs = "/sys");

}  // namespace oriel::topology
