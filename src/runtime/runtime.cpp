#include <oriel/export.hpp>
#include <oriel/runtime.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "runtime/runtime_state.hpp"
#include "transport/progress.hpp"
#include "window/team_state.hpp"

namespace oriel {
namespace {

/// Ranks that talk by MPI in the middle of a job: nobody else waits for a turn meanwhile.
class OutOfTurn {
 public:
  OutOfTurn(bootstrap::Bootstrap& group, transport::Progress& progress) noexcept
      : group_(group), progress_(progress) {}
  [[nodiscard]] std::vector<std::byte> allgather(std::span<const std::byte> mine) {
    std::vector<std::byte> all;
    progress_.out_of_turn([&] { all = group_.allgather(mine); });
    return all;
  }

 private:
  bootstrap::Bootstrap& group_;
  transport::Progress& progress_;
};

}  // namespace

Runtime::Runtime(int& argc, char**& argv)
    : Runtime(std::make_unique<runtime::RuntimeState>(bootstrap::meet_through_mpi(argc, argv),
                                                      base::environment_lines())) {}

Runtime::Runtime(const Communicator& communicator)
    : Runtime(std::make_unique<runtime::RuntimeState>(bootstrap::meet_through(communicator),
                                                      base::environment_lines())) {}

// Declared in <oriel/mpi.hpp>, which this layer does not see.
ORIEL_API Team make_team(const Runtime& job, const Communicator& communicator) {
  constexpr std::string_view kOperation = "make_team";
  window::TeamState& world = *job.world().state();
  const auto members = bootstrap::meet_through(communicator);
  transport::Progress& progress = world.progress(kOperation);
  const transport::Progress::Turn turn(progress);
  OutOfTurn group(*members, progress);
  std::vector<window::Candidate> candidates;
  for (const int rank : bootstrap::allgather_records(group, world.job().world_rank))
    candidates.push_back({rank, static_cast<int>(candidates.size())});
  return Team(window::make_team(world.job(), group, kOperation, candidates));
}

}  // namespace oriel
