#include "launcher/machine_facts.hpp"

#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <oriel/error.hpp>
#include <sstream>

#include "base/options.hpp"
#include "launcher/library_search.hpp"
#include "launcher/mpi_program.hpp"
#include "launcher/rdma_facts.hpp"
#include "transport/verbs/registered_memory.hpp"

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;

std::string loopback_interface() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  constexpr unsigned kWanted = IFF_LOOPBACK | IFF_UP;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if ((entry->ifa_flags & kWanted) == kWanted) return entry->ifa_name;
  }
  return "";
}

/// Malformed ones are preflight's to report; here they count as not given.
base::Options valid_options(const JobRequest& request,
                            const std::vector<std::string>& environment) {
  try {
    return base::parse_options(oriel_variables(request, environment));
  } catch (const Error&) {
    return {};
  }
}

ProgramState file_state(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return ProgramState::missing;
  if (fs::is_directory(path, ignored)) return ProgramState::directory;
  return ::access(path.c_str(), X_OK) == 0 ? ProgramState::ready : ProgramState::not_executable;
}

DropInFacts drop_in_facts(const JobRequest& request, const std::string& path) {
  const auto places = drop_in_places(own_folder());
  const auto drop_in = find_drop_in(places);
  if (!drop_in) return {.problem = no_drop_in_text(places)};
  DropInFacts facts{.library = drop_in->path.string(), .mpi = drop_in->mpi()};
  if (const auto file = program_file(request.program.front(), path)) {
    const MpiProgram program =
        look_at_program(*file, *drop_in, library_folders(), ElfParts::without_symbols);
    facts.link = program.link;
    facts.program_mpi = program.mpi;
  }
  return facts;
}

}  // namespace

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string search_path() {
  const char* const path = ::getenv("PATH");
  return path == nullptr ? "" : path;
}

std::optional<fs::path> program_file(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (file_state(candidate) == ProgramState::ready) return candidate;
  }
  return std::nullopt;
}

ProgramState program_state(const std::string& name, const std::string& path) {
  const auto file = program_file(name, path);
  return file ? file_state(*file) : ProgramState::missing;
}

MachineFacts collect_facts(const topology::Topology& topology, const JobRequest& request) {
  const std::string path = search_path();
  const auto in_path = [&](const char* name) {
    return program_state(name, path) == ProgramState::ready;
  };
  const std::vector<std::string> environment = base::environment_lines();
  return {.host_name = host_name(),
          .is_root = ::geteuid() == 0,
          .usable_cores = static_cast<unsigned>(topology.usable_cores().size()),
          .loopback = loopback_interface(),
          .has_mpirun = in_path("mpirun"),
          .has_remote_shell = in_path("ssh") || in_path("rsh"),
          .program = program_state(request.program.front(), path),
          .locking = verbs::locking_rights(),
          .device_problem = look_at_devices(topology, valid_options(request, environment)).problem,
          .drop_in = request.mpi ? drop_in_facts(request, path) : DropInFacts{},
          .environment = environment};
}

}  // namespace oriel::launcher
