#include "launcher/job_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <stdexcept>

namespace oriel::launcher {
namespace {

constexpr unsigned kMaxSlots = 65536;

/// Set by batch systems whose allocation mpirun reads, and by Open MPI users for a host file.
constexpr std::array<std::string_view, 6> kHostSources = {
    "SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID",
    "PE_HOSTFILE",  "COBALT_JOBID", "OMPI_MCA_orte_default_hostfile"};

Host parse_host(std::string_view entry) {
  const auto colon = entry.find(':');
  Host host{.name = std::string(entry.substr(0, colon))};
  bool good = !host.name.empty() && host.name.find_first_of(" \t/") == std::string::npos;
  if (good && colon != std::string_view::npos) {
    const std::string_view digits = entry.substr(colon + 1);
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, host.slots);
    good = error == std::errc() && end == last && host.slots >= 1 && host.slots <= kMaxSlots;
  }
  if (!good) {
    throw std::invalid_argument(fmt::format(
        "\"{}\" is not a host: write NAME or NAME:SLOTS with 1 to {} slots", entry, kMaxSlots));
  }
  return host;
}

std::string_view first_label(std::string_view host) {
  return host.substr(0, host.find('.'));
}

}  // namespace

std::vector<Host> parse_hosts(std::string_view list) {
  std::vector<Host> hosts;
  while (true) {
    const auto comma = list.find(',');
    hosts.push_back(parse_host(list.substr(0, comma)));
    if (comma == std::string_view::npos) return hosts;
    list.remove_prefix(comma + 1);
  }
}

unsigned total_slots(const std::vector<Host>& hosts) {
  return std::accumulate(hosts.begin(), hosts.end(), 0U,
                         [](unsigned sum, const Host& host) { return sum + host.slots; });
}

bool has_option(const std::vector<std::string>& mpirun_args,
                const std::vector<std::string_view>& names) {
  return std::ranges::any_of(mpirun_args, [&](std::string_view word) {
    if (!word.starts_with('-')) return false;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    return std::ranges::find(names, word) != names.end();
  });
}

bool is_this_machine(std::string_view host, std::string_view host_name) {
  return host == "localhost" || host == "127.0.0.1" || host == host_name ||
         host == first_label(host_name);
}

Reach reach_of(const JobRequest& request, std::string_view host_name,
               const std::vector<std::string>& environment) {
  if (has_option(request.mpirun_args,
                 {"hostfile", "machinefile", "default-hostfile", "host", "H"})) {
    return Reach::unknown_hosts;
  }
  if (request.hosts.empty()) {
    const bool told = std::ranges::any_of(kHostSources, [&](std::string_view name) {
      return find_variable(environment, name).has_value();
    });
    return told ? Reach::unknown_hosts : Reach::this_machine;
  }
  const bool all_here = std::ranges::all_of(
      request.hosts, [&](const Host& host) { return is_this_machine(host.name, host_name); });
  return all_here ? Reach::this_machine : Reach::listed_hosts;
}

std::vector<std::string> oriel_variables(const JobRequest& request,
                                         const std::vector<std::string>& environment) {
  std::map<std::string, std::string> variables;
  const auto overlay = [&](std::string_view line) {
    const auto equals = line.find('=');
    if (!line.starts_with("ORIEL_") || equals == std::string_view::npos) return;
    variables[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  };
  std::ranges::for_each(environment, overlay);
  std::ranges::for_each(request.exports, overlay);
  if (!request.fabric.empty()) variables["ORIEL_FABRIC"] = request.fabric;
  if (!request.log.empty()) variables["ORIEL_LOG"] = request.log;
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

std::string preload_list(const std::string& drop_in, const JobRequest& request,
                         const std::vector<std::string>& environment) {
  auto others = find_variable(request.exports, "LD_PRELOAD");
  if (!others) others = find_variable(environment, "LD_PRELOAD");
  return others && !others->empty() ? fmt::format("{}:{}", drop_in, *others) : drop_in;
}

std::optional<std::string_view> find_variable(const std::vector<std::string>& environment,
                                              std::string_view name) {
  for (const std::string_view line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return line.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace oriel::launcher
