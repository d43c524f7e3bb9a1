#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "launcher/cross_memory_probe.hpp"
#include "launcher/process_limits.hpp"
#include "launcher/rdma_facts.hpp"

namespace oriel::launcher {

/// One ORIEL_* variable as it is here.
struct OptionState {
  base::OptionDescription description{};
  std::optional<std::string> value{};  ///< empty: not set
};

/// Which fabric a pair of ranks would use, and why. An empty fabric: none would work.
struct FabricVerdict {
  std::string fabric{};
  std::string reason{};
};

/// All that oriel-info tells. Plain data: collected once, then written as text or as JSON.
struct InfoReport {
  std::string version{};
  std::string host{};
  std::string machine{};  ///< "1 package, 1 NUMA node, …"
  unsigned cores = 0;
  std::string usable_cpus{};
  std::vector<int> numa_nodes{};
  ProcessLimits limits{};
  CrossMemoryAccess cross_memory{};
  RdmaFacts rdma{};
  FabricVerdict on_one_machine{};
  FabricVerdict between_machines{};
  std::vector<OptionState> options{};
  std::string option_problem{};  ///< "" unless a variable is unknown or malformed
};

/// Looks at this machine and environment. Needs neither a device nor mpirun.
[[nodiscard]] InfoReport collect_info();

/// What two ranks of one machine would use.
[[nodiscard]] FabricVerdict verdict_on_one_machine(base::Fabric fabric, const RdmaFacts& rdma);
/// What two ranks of two machines would use, both being like this one.
[[nodiscard]] FabricVerdict verdict_between_machines(base::Fabric fabric, const RdmaFacts& rdma);

[[nodiscard]] std::string info_text(const InfoReport& report);
[[nodiscard]] std::string options_text(const InfoReport& report);
/// Keys stay as they are from version to version; new ones may come.
[[nodiscard]] std::string info_json(const InfoReport& report);

}  // namespace oriel::launcher
