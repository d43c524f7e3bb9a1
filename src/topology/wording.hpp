#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::topology {

/// "1 core", "2 cores"
inline std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "NUMA node 1", "NUMA nodes 0,1" or "no NUMA node"
inline std::string describe_nodes(const std::vector<int>& nodes) {
  if (nodes.empty()) return "no NUMA node";
  return fmt::format("NUMA node{} {}", nodes.size() == 1 ? "" : "s", fmt::join(nodes, ","));
}

}  // namespace oriel::topology
