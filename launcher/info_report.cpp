#include "launcher/info_report.hpp"

#include <fmt/format.h>
#include <oriel/error.hpp>
#include <oriel/version.hpp>

#include "launcher/job_request.hpp"
#include "launcher/machine_facts.hpp"
#include "topology/topology.hpp"

namespace oriel::launcher {
namespace {

FabricVerdict verbs_verdict(const RdmaFacts& rdma, std::string_view why) {
  if (!rdma.choice) return {"", rdma.problem};
  return {"verbs", fmt::format("{}; {}", why, rdma.choice->reason)};
}

}  // namespace

FabricVerdict verdict_on_one_machine(base::Fabric fabric, const RdmaFacts& rdma) {
  if (fabric == base::Fabric::verbs) return verbs_verdict(rdma, "ORIEL_FABRIC is verbs");
  return {"shm", fabric == base::Fabric::shm
                     ? "ORIEL_FABRIC is shm"
                     : "shared memory is always faster than a device on one machine"};
}

FabricVerdict verdict_between_machines(base::Fabric fabric, const RdmaFacts& rdma) {
  if (fabric == base::Fabric::shm) {
    return {"", "ORIEL_FABRIC is shm, which reaches ranks of one machine only; hint: unset it"};
  }
  return verbs_verdict(rdma, fabric == base::Fabric::verbs
                                 ? "ORIEL_FABRIC is verbs"
                                 : "shared memory does not reach another machine");
}

InfoReport collect_info() {
  const auto topology = topology::Topology::discover();
  const std::vector<std::string> environment = base::environment_lines();
  InfoReport report{.version = ORIEL_VERSION_STRING,
                    .host = host_name(),
                    .machine = topology.describe(),
                    .cores = static_cast<unsigned>(topology.usable_cores().size()),
                    .usable_cpus = topology.usable_cpus().to_string(),
                    .numa_nodes = topology.numa_nodes(),
                    .limits = process_limits(),
                    .cross_memory = probe_cross_memory()};
  base::Options options;
  try {
    options = base::parse_options(environment);
  } catch (const Error& malformed) {
    report.option_problem = malformed.what();
  }
  for (const base::OptionDescription& description : base::option_descriptions()) {
    const auto value = find_variable(environment, description.name);
    report.options.push_back(
        {description, value ? std::optional<std::string>(*value) : std::nullopt});
  }
  report.rdma = look_at_devices(topology, options);
  report.on_one_machine = verdict_on_one_machine(options.fabric, report.rdma);
  report.between_machines = verdict_between_machines(options.fabric, report.rdma);
  return report;
}

}  // namespace oriel::launcher
