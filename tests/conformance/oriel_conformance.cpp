/// oriel-conformance: checks Oriel on the ranks it is started on. See --help.

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

#include <oriel/mpi.hpp>

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

/// Where the suite runs.
std::string describe(Job& job) {
  const auto probe = WindowBytes::allocate(job.world(), 8);
  std::set<std::string> hosts;
  for (int rank = 0; rank < job.ranks(); ++rank) hosts.insert(job.world().host(Rank(rank)));
  return fmt::format("{} ranks on {} hosts ({} nodes), fabric {}, coherence domain {}", job.ranks(),
                     hosts.size(), job.node_count(), fabrics(job.world()),
                     to_string(probe.coherence()));
}

int run(const Options& options) {
  Runtime runtime(MPI_COMM_WORLD);
  Job job(runtime, std::chrono::seconds(options.limit));
  Suite suite{.job = job,
              .options = options,
              .setting = {job.nodes(), fabrics_of(job.world()).contains("verbs")}};
  const std::string where = describe(job);
  const auto started = std::chrono::steady_clock::now();
  run_litmus(suite);
  run_cases(suite);
  run_programs(suite);
  if (suite.lists()) return 0;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - started;
  suite.say(fmt::format("{}{}, {:.1f} s\n{}: {} run, {} failed\n", suite.report.table(), where,
                        used.count(), suite.report.is_good() ? "PASS" : "FAIL", suite.report.run(),
                        suite.report.failed()));
  return suite.report.is_good() ? 0 : 1;
}

int start(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Parsed parsed = parse_options(argc, argv, rank == 0);
  int status = parsed.status.value_or(1);
  if (!parsed.status) {
    if (!parsed.options.fabric.empty()) {
      ::setenv("ORIEL_FABRIC", parsed.options.fabric.c_str(), 1);
    }
    try {
      status = run(parsed.options);
    } catch (const std::exception& error) {
      fmt::print(stderr, "oriel-conformance: FAIL: {}\n", error.what());
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace
}  // namespace oriel::conformance

int main(int argc, char** argv) {
  return oriel::conformance::start(argc, argv);
}
