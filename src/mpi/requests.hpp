#pragma once
/// The requests of MPI_Rput and its like: generalised requests of MPI's, which every call that
/// takes requests knows, of operations that Oriel completes.

#include <mpi.h>

#include <span>
#include <vector>

#include <oriel/request.hpp>

namespace oriel::mpi {

class Win;

/// A request that is complete as soon as all of `parts` are locally complete.
/// @param parts  may be none: the request is complete then
[[nodiscard]] MPI_Request make_request(Win& window, std::vector<Request> parts);

/// Whether any of them waits for its completion: unless so, a call that takes requests is MPI's
/// alone. Threads: any. Cost: one load.
[[nodiscard]] bool any_ours() noexcept;
/// Waits until those of ours among `requests` are complete. None of them waits for what another
/// rank has still to do, so this may come before MPI waits for the others, or for any one.
void complete_ours(std::span<const MPI_Request> requests) noexcept;
/// Completes those of ours that are done. Never waits.
void progress_ours(std::span<const MPI_Request> requests) noexcept;
/// Completes all of a window, which ends: those too whose handles are gone (MPI_Request_free).
void complete_all(Win& window) noexcept;

}  // namespace oriel::mpi
