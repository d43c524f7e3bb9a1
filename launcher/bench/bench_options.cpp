#include "launcher/bench/bench_options.hpp"

#include <fmt/format.h>
#include <oriel/version.hpp>

#include <CLI/CLI.hpp>

#include <map>

namespace oriel::bench {
namespace {

constexpr int kUsageStatus = 2;

std::string manual() {
  std::string text = "Operations (the rank that works is rank 0, its target the last one):\n";
  for (const OperationInfo& one : operations()) {
    text += fmt::format("  {:<16} {}\n", one.name, one.text);
  }
  return text + R"(
floor: the bare device or memory in the same run. On verbs, hand-written work requests on a queue
pair of their own; on shm, a bounds-checked memcpy or a std::atomic_ref on mapped memory, or
process_vm_* for windows that are created. mpi: the RMA of the MPI library that started the job.

Examples:
  mpirun -n 2 oriel-bench                                    everything, one second a row
  mpirun -n 2 oriel-bench --ops put,get --sizes 8,4096,1M --peers floor
  mpirun -n 2 --mca osc sm oriel-bench --json bench.json     Open MPI's osc of choice as a peer
)";
}

Operation operation_of(const std::string& name) {
  if (const OperationInfo* found = find_operation(name)) return found->operation;
  throw CLI::ValidationError("--ops", fmt::format("there is no operation {}", name));
}

std::size_t size_of(const std::string& text) {
  std::size_t end = 0;
  unsigned long long value = 0;
  try {
    value = std::stoull(text, &end);
  } catch (const std::exception&) {
    end = text.size() + 1;
  }
  const std::map<std::string, unsigned> units = {{"", 0}, {"K", 10}, {"M", 20}, {"G", 30}};
  const auto unit = end > text.size() ? units.end() : units.find(text.substr(end));
  constexpr unsigned long long kMost = 1ULL << 30U;
  if (unit == units.end() || text[0] == '-' || value == 0 || value > kMost ||
      (value << unit->second) > kMost)
    throw CLI::ValidationError("--sizes",
                               fmt::format("{} is no size: 1 to 1G, with K, M or G", text));
  return value << unit->second;
}

void take_peers(const std::vector<std::string>& names, Plan& plan) {
  plan.floor = plan.mpi = false;
  for (const std::string& name : names) {
    if (name == "floor") {
      plan.floor = true;
    } else if (name == "mpi") {
      plan.mpi = true;
    } else if (name != "none") {
      throw CLI::ValidationError("--peers", fmt::format("{}: floor, mpi or none", name));
    }
  }
}

/// Of the sizes asked for, or of the usual ones, those that make sense.
std::vector<std::size_t> sizes_of(const OperationInfo& what, std::vector<std::size_t> wanted) {
  if (!what.has_sizes) return {8};
  std::size_t least = 1;
  if (what.operation == Operation::accumulate) least = sizeof(double);
  if (what.operation == Operation::strided) least = kStridedBlock;
  if (wanted.empty()) {
    wanted = what.unit == Unit::megabytes ? std::vector<std::size_t>{64U << 10U, 1U << 20U}
             : what.unit == Unit::operations
                 ? std::vector<std::size_t>{8}
                 : std::vector<std::size_t>{8, 64, 4096, 64U << 10U, 1U << 20U};
  }
  std::erase_if(wanted, [least](std::size_t size) { return size < least; });
  for (std::size_t& size : wanted) size -= size % least;
  return wanted;
}

}  // namespace

std::vector<Task> BenchOptions::tasks() const {
  std::vector<Task> all;
  for (const Operation operation : operations) {
    for (const std::size_t size : sizes_of(info(operation), sizes)) {
      all.push_back({operation, size, window});
    }
  }
  return all;
}

std::optional<int> parse(int argc, char** argv, bool prints, BenchOptions& options) {
  CLI::App app("Measures Oriel's windows, beside the bare device and MPI's own RMA.",
               "oriel-bench");
  std::vector<std::string> operations_text;
  std::vector<std::string> sizes_text;
  std::vector<std::string> peers_text;
  static const std::map<std::string, WindowKind> kinds = {{"allocated", WindowKind::allocated},
                                                          {"created", WindowKind::created},
                                                          {"dynamic", WindowKind::dynamic}};
  app.set_version_flag("--version", "oriel-bench " ORIEL_VERSION_STRING);
  app.footer(manual());
  app.add_option("--ops", operations_text, "what to measure: a list; all of them")->delimiter(',');
  app.add_option("--sizes", sizes_text, "bytes of one operation: a list, with K, M or G")
      ->delimiter(',');
  std::string window = "allocated";
  app.add_option("--window", window, "allocated, created or dynamic")->check(CLI::IsMember(kinds));
  app.add_option("--fabric", options.fabric, "as ORIEL_FABRIC");
  app.add_option("--peers", peers_text, "what to compare with: floor,mpi or none; both")
      ->delimiter(',');
  app.add_option("--seconds", options.plan.seconds, "for one row")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--json", options.json, "one object per line into this file");
  app.add_option("--plot", options.plot, "a picture (SVG) of what depends on the size");
  try {
    app.parse(argc, argv);
    for (const std::string& name : operations_text)
      options.operations.push_back(operation_of(name));
    for (const std::string& text : sizes_text) options.sizes.push_back(size_of(text));
    options.window = kinds.at(window);
    if (!peers_text.empty()) take_peers(peers_text, options.plan);
  } catch (const CLI::Success& answer) {
    return prints ? app.exit(answer) : 0;
  } catch (const CLI::ParseError& error) {
    if (prints) fmt::print(stderr, "oriel-bench: {}; hint: oriel-bench --help\n", error.what());
    return kUsageStatus;
  }
  if (options.operations.empty()) {
    for (const OperationInfo& one : operations()) options.operations.push_back(one.operation);
  }
  return std::nullopt;
}

}  // namespace oriel::bench
