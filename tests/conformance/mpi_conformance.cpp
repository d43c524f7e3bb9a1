/// mpi-conformance: the suite's random programs, carried out by MPI's one-sided functions. It knows
/// nothing of Oriel's windows: MPI's own are checked, or those of the drop-in in front of MPI. See
/// --help.

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "conformance/mpi_interpreter.hpp"
#include "conformance/suite.hpp"

namespace oriel::conformance {
namespace {

/// The ranks of the world that have their memory where this one has.
std::vector<int> neighbours() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group near = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(node, &near);
  int count = 0;
  MPI_Group_size(near, &count);
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group_translate_ranks(near, count, numbers.data(), all, ranks.data());
  MPI_Group_free(&near);
  MPI_Group_free(&all);
  MPI_Comm_free(&node);
  return ranks;
}

int run(const Options& options) {
  // Errors of MPI are failures of a program, not the end of all.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Job job(neighbours(), std::chrono::seconds(options.limit));
  Suite suite{
      .job = job,
      .options = options,
      .setting = {.nodes = job.nodes(), .without_shared = options.without_shared, .by_mpi = true},
      .make_interpreter = [&](const Program& program) {
        return std::make_unique<mpi::MpiInterpreter>(job, program, options.plant);
      }};
  run_programs(suite);
  if (suite.lists()) return 0;
  suite.tell_end(fmt::format("{} ranks on {} nodes, windows of {}", job.ranks(), job.node_count(),
                             std::getenv("LD_PRELOAD") == nullptr ? "MPI's own" : "LD_PRELOAD's"));
  return suite.report.is_good() ? 0 : 1;
}

}  // namespace
}  // namespace oriel::conformance

int main(int argc, char** argv) {
  using namespace oriel::conformance;
  return run_tool(Tool::mpi, MPI_THREAD_SINGLE, argc, argv, run);
}
