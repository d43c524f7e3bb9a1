#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace oriel::topology {

struct MemoryBinding {
  bool bound = false;
  std::string reason;  ///< why not; empty if bound
};

/// Asks the kernel to place [address, address + length) on `numa_node`; call before first touch.
///
/// Acts on whole pages, so give it mappings of your own, never a piece of a heap. On shared memory
/// the policy belongs to the memory: one rank's call holds for all. A full node overflows to others
/// instead of killing the process. Never throws for lack of support: the result tells.
[[nodiscard]] MemoryBinding bind_memory(const Topology& topology, void* address, std::size_t length,
                                        int numa_node);

/// The nodes that hold pages of [address, address + length), ascending; pages never touched are on
/// none. No value if the kernel does not tell. Cost: a system call per call and work per page.
[[nodiscard]] std::optional<std::vector<int>> memory_location(const Topology& topology,
                                                              const void* address,
                                                              std::size_t length);

}  // namespace oriel::topology
