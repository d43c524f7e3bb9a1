#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"

namespace oriel {
struct Communicator;
}

namespace oriel::bootstrap {

/// The ranks of MPI_COMM_WORLD. Initialises MPI (MPI_THREAD_MULTIPLE asked for) if nobody has, and
/// then finalises it at its own end. A process that was not started by an MPI launcher is a group
/// of one, without MPI being touched.
[[nodiscard]] std::unique_ptr<Bootstrap> meet_through_mpi(int& argc, char**& argv);

/// The ranks of a communicator of the program's own, duplicated. The program may finalise MPI once
/// the ranks have met.
[[nodiscard]] std::unique_ptr<Bootstrap> meet_through(const Communicator& communicator);

}  // namespace oriel::bootstrap
