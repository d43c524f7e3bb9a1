#pragma once

#include <string>
#include <vector>

#include "launcher/preflight.hpp"
#include "topology/topology.hpp"

namespace oriel::launcher {

/// Looks at this machine. Opens RDMA devices, starts nothing.
[[nodiscard]] MachineFacts collect_facts(const topology::Topology& topology,
                                         const JobRequest& request);

[[nodiscard]] std::string host_name();

/// What would happen on executing `name`, looked up in `path` (a list like PATH) if it has no
/// slash.
[[nodiscard]] ProgramState program_state(const std::string& name, const std::string& path);

}  // namespace oriel::launcher
