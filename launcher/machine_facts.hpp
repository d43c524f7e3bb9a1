#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/preflight.hpp"
#include "topology/topology.hpp"

namespace oriel::launcher {

/// Looks at this machine. Opens RDMA devices, starts nothing.
[[nodiscard]] MachineFacts collect_facts(const topology::Topology& topology,
                                         const JobRequest& request);

[[nodiscard]] std::string host_name();

/// The file that executing `name` would take: itself if it has a slash, else the first in `path` (a
/// list like PATH) that may be executed.
[[nodiscard]] std::optional<std::filesystem::path> program_file(const std::string& name,
                                                                const std::string& path);

/// PATH of the environment.
[[nodiscard]] std::string search_path();

/// What would happen on executing `name`, looked up in `path` (a list like PATH) if it has no
/// slash.
[[nodiscard]] ProgramState program_state(const std::string& name, const std::string& path);

}  // namespace oriel::launcher
