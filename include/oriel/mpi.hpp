#pragma once
/// Oriel next to MPI: starting the runtime on a communicator of the program's own.
///
///     MPI_Init(&argc, &argv);
///     oriel::Runtime job(MPI_COMM_WORLD);

#include <mpi.h>

#include <oriel/export.hpp>
#include <oriel/runtime.hpp>

namespace oriel {

/// An intracommunicator handed to Runtime. The runtime duplicates it; the program keeps its own.
struct Communicator {
  Communicator(MPI_Comm comm) noexcept : handle(comm) {}  // NOLINT(google-explicit-constructor)
  MPI_Comm handle;
};

/// Collective over `communicator`: the team of its ranks, in its order [MPI_Comm_group]. The
/// communicator is not kept.
///
/// Requires: all its members are ranks of the job. Errors: invalid_argument (MPI is not running),
/// otherwise as Team::split. Threads: one-at-a-time per communicator. Cost: three allgathers and a
/// duplication by MPI, and the memory of a team.
[[nodiscard]] ORIEL_API Team make_team(const Runtime& job, const Communicator& communicator);

}  // namespace oriel
