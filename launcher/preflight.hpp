#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/job_request.hpp"
#include "launcher/mpi_program.hpp"
#include "transport/verbs/registered_memory.hpp"

namespace oriel::launcher {

enum class ProgramState : std::uint8_t { ready, missing, directory, not_executable };

/// What --mpi needs to know.
struct DropInFacts {
  std::string library{};  ///< path
  std::string problem{};  ///< why there is none; "" if there is
  std::string mpi{};      ///< the MPI that it needs
  MpiLink link = MpiLink::same;
  std::string program_mpi{};  ///< the MPI of the program
};

/// What is to know of this machine before a job starts.
struct MachineFacts {
  std::string host_name{};
  bool is_root = false;
  unsigned usable_cores = 1;
  std::string loopback{};  ///< interface that is up, or ""
  bool has_mpirun = true;
  bool has_remote_shell = true;  ///< ssh or rsh
  ProgramState program = ProgramState::ready;
  verbs::LockingRights locking{};
  std::string device_problem{};            ///< why there is no RDMA device to use; "" if there is
  DropInFacts drop_in{};                   ///< with --mpi
  std::vector<std::string> environment{};  ///< NAME=VALUE
};

struct Finding {
  bool fatal = false;
  std::string text;

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Tells what will not work, and what may surprise, before the job starts. Pure.
/// @param ranks  that will be started
[[nodiscard]] std::vector<Finding> preflight(const JobRequest& request, unsigned ranks,
                                             const MachineFacts& facts);

/// The number of ranks to start: as asked, else one per slot, else one per core.
[[nodiscard]] unsigned ranks_to_start(const JobRequest& request, unsigned usable_cores);

}  // namespace oriel::launcher
