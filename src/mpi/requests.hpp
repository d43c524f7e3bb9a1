#pragma once
#include <mpi.h>

#include <span>
namespace oriel::mpi {
void complete_ours(std::span<const MPI_Request> requests) noexcept;
void progress_ours(std::span<const MPI_Request> requests) noexcept;
bool any_ours() noexcept;
}  // namespace oriel::mpi
