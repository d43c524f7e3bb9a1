/// oriel-conformance: checks Oriel on the ranks it is started on. See --help.

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include <oriel/mpi.hpp>

#include "conformance/oriel_interpreter.hpp"
#include "conformance/suite.hpp"

namespace oriel::conformance {
namespace {

std::set<std::string_view> fabrics_of(const Team& world) {
  std::set<std::string_view> found;
  for (int rank = 0; rank < world.size(); ++rank) found.insert(world.fabric(Rank(rank)));
  return found;
}

std::string fabrics(const Team& world) {
  const std::set<std::string_view> found = fabrics_of(world);
  std::string text;
  for (const std::string_view one : found)
    text += fmt::format("{}{}", text.empty() ? "" : "+", one);
  return text;
}

std::vector<int> ranks_of(const Team& team) {
  std::vector<int> ranks;
  for (int member = 0; member < team.size(); ++member) {
    ranks.push_back(static_cast<int>(team.world_rank(Rank(member))));
  }
  return ranks;
}

/// Where the suite runs.
std::string describe(const Job& job, const Team& world) {
  const auto probe = WindowBytes::allocate(world, 8);
  std::set<std::string> hosts;
  for (int rank = 0; rank < job.ranks(); ++rank) hosts.insert(world.host(Rank(rank)));
  return fmt::format("{} ranks on {} hosts ({} nodes), fabric {}, coherence domain {}", job.ranks(),
                     hosts.size(), job.node_count(), fabrics(world), to_string(probe.coherence()));
}

int run(const Options& options) {
  if (!options.fabric.empty()) ::setenv("ORIEL_FABRIC", options.fabric.c_str(), 1);
  Runtime runtime(MPI_COMM_WORLD);
  const Team& world = runtime.world();
  Job job(ranks_of(runtime.node()), std::chrono::seconds(options.limit));
  Suite suite{.job = job,
              .options = options,
              .setting = {job.nodes(), fabrics_of(world).contains("verbs")},
              .make_interpreter = [&](const Program& program) {
                return std::make_unique<OrielInterpreter>(runtime, job, program, options.plant);
              }};
  const std::string where = describe(job, world);
  run_litmus(suite, world);
  run_cases(suite);
  run_programs(suite);
  if (suite.lists()) return 0;
  suite.tell_end(where);
  return suite.report.is_good() ? 0 : 1;
}

}  // namespace
}  // namespace oriel::conformance

int main(int argc, char** argv) {
  using namespace oriel::conformance;
  return run_tool(Tool::oriel, MPI_THREAD_MULTIPLE, argc, argv, run);
}
