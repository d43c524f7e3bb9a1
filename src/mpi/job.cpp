#include "mpi/job.hpp"

#include <oriel/mpi.hpp>
#include <oriel/version.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/options.hpp"
#include "mpi/call.hpp"
#include "mpi/datatype.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

struct Job {
  std::unique_ptr<Runtime> runtime{};
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm progress = MPI_COMM_NULL;  // nobody sends here: to look for messages moves MPI's others
  int team_key = MPI_KEYVAL_INVALID;
  bool stats = false;
  std::string why_not = "MPI_Init has not been called";
};

Job& job() noexcept {
  static Job instance;
  return instance;
}

/// MPI's other messages go on while a rank waits in Oriel.
void progress_mpi() {
  int ignored = 0;
  PMPI_Iprobe(0, 0, job().progress, &ignored, MPI_STATUS_IGNORE);
}

void tell_statistics() {
  const Statistics& all = statistics();
  fmt::print(stderr,
             "oriel: [rank {}] windows {} (left to MPI {}), puts {}, gets {}, accumulates {}\n",
             static_cast<int>(job().runtime->world().rank()), all.windows.load(),
             all.native_windows.load(), all.puts.load(), all.gets.load(), all.accumulates.load());
}

extern "C" int forget_team(MPI_Comm, int, void* team, void*) {
  delete static_cast<Team*>(team);
  return MPI_SUCCESS;
}

/// MPI_Finalize has come to the first attribute that MPI_COMM_SELF was given.
extern "C" int stop(MPI_Comm, int, void*, void*) {
  Job& mine = job();
  if (mine.stats) tell_statistics();
  mine.why_not = "MPI_Finalize has been called";
  if (Win::alive() != 0)
    base::log(base::LogLevel::info,
              "MPI_Finalize with {} windows that were not freed: they are now", Win::alive());
  forget_idle_memory();
  mine.runtime.reset();
  PMPI_Comm_free(&mine.progress);
  PMPI_Group_free(&mine.world);
  return MPI_SUCCESS;
}

void call_at_the_end(int (*callback)(MPI_Comm, int, void*, void*)) {
  int key = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &key, nullptr),
        "MPI_Comm_create_keyval");
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(PMPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

/// As a line of ORIEL_LOG=info: that the drop-in is there, and by which ways data goes.
void announce(const Runtime& runtime) {
  if (static_cast<int>(runtime.world().rank()) != 0) return;
  std::string paths;
  for (int rank = 0; rank < runtime.world().size(); ++rank) {
    const std::string fabric(runtime.world().fabric(Rank(rank)));
    if (paths.find(fabric) == std::string::npos) paths += (paths.empty() ? "" : " and ") + fabric;
  }
  base::log(base::LogLevel::info, "Oriel {} carries the MPI windows of {} ranks, by {}",
            ORIEL_VERSION_STRING, runtime.world().size(), paths);
}

void start_checked(const base::Options& options) {
  Job& mine = job();
  if (!options.carries_mpi_windows) {
    mine.why_not = "ORIEL_MPI=native";
    return;
  }
  check(PMPI_Comm_group(MPI_COMM_WORLD, &mine.world), "MPI_Comm_group");
  check(PMPI_Comm_dup(MPI_COMM_SELF, &mine.progress), "MPI_Comm_dup");
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_team, &mine.team_key, nullptr),
        "MPI_Comm_create_keyval");
  prepare_datatypes();
  auto runtime = std::make_unique<Runtime>(Communicator(MPI_COMM_WORLD));
  runtime->while_waiting(progress_mpi);
  call_at_the_end(stop);
  mine.runtime = std::move(runtime);
  announce(*mine.runtime);
}

/// A process that this job has not started with: spawned, or connected to.
bool has_strangers(MPI_Comm comm) {
  MPI_Group members = MPI_GROUP_NULL;
  check(PMPI_Comm_group(comm, &members), "MPI_Comm_group");
  const std::vector<int> in_world = translated_ranks(members, job().world);
  PMPI_Group_free(&members);
  return std::ranges::find(in_world, MPI_UNDEFINED) != in_world.end();
}

}  // namespace

void start() noexcept {
  Job& mine = job();
  try {
    const base::Options options = base::parse_options(base::environment_lines());
    base::set_log_level(options.log);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    base::set_log_rank(rank);
    mine.stats = options.stats;
    start_checked(options);
  } catch (const std::exception& error) {
    mine.why_not = error.what();
    base::log(base::LogLevel::warning, "MPI keeps its windows: {}", error.what());
  }
}

bool is_running() noexcept {
  return job().runtime != nullptr;
}

std::unique_ptr<BufferBytes> make_buffer(std::size_t bytes) {
  return std::make_unique<BufferBytes>(*job().runtime, bytes);
}

Statistics& statistics() noexcept {
  static Statistics all;
  return all;
}

std::optional<Team> team_of(MPI_Comm comm, std::string& why) {
  const Job& mine = job();
  if (!mine.runtime) {
    why = mine.why_not;
    return std::nullopt;
  }
  void* kept = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, mine.team_key, static_cast<void*>(&kept), &found),
        "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<Team*>(kept);
  int connects_groups = 0;
  check(PMPI_Comm_test_inter(comm, &connects_groups), "MPI_Comm_test_inter");
  if (connects_groups != 0 || has_strangers(comm)) {
    why = connects_groups != 0 ? "it is of an intercommunicator"
                               : "its communicator has processes that were started later";
    return std::nullopt;
  }
  auto team = std::make_unique<Team>(make_team(*mine.runtime, Communicator(comm)));
  check(PMPI_Comm_set_attr(comm, mine.team_key, team.get()), "MPI_Comm_set_attr");
  return *team.release();
}

}  // namespace oriel::mpi
