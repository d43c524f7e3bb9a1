#pragma once
/// Oriel next to MPI: starting the runtime on a communicator of the program's own.
///
///     MPI_Init(&argc, &argv);
///     oriel::Runtime job(MPI_COMM_WORLD);

#include <mpi.h>

#include <oriel/runtime.hpp>

namespace oriel {

/// An intracommunicator handed to Runtime. The runtime duplicates it; the program keeps its own.
struct Communicator {
  Communicator(MPI_Comm comm) noexcept : handle(comm) {}  // NOLINT(google-explicit-constructor)
  MPI_Comm handle;
};

}  // namespace oriel
