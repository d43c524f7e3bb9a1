// MPI's functions that complete requests: those of Oriel's operations are completed first, then
// MPI does its work on all alike.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "mpi/requests.hpp"

namespace {

using oriel::mpi::any_ours;
using oriel::mpi::complete_ours;
using oriel::mpi::progress_ours;

std::span<const MPI_Request> listed(int count, const MPI_Request* requests) noexcept {
  if (count <= 0 || requests == nullptr) return {};
  return {requests, static_cast<std::size_t>(count)};
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (any_ours()) complete_ours(listed(1, request));
  return PMPI_Wait(request, status);
}
extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (any_ours()) complete_ours(listed(count, requests));
  return PMPI_Waitall(count, requests, statuses);
}
extern "C" int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (any_ours()) complete_ours(listed(count, requests));
  return PMPI_Waitany(count, requests, index, status);
}
extern "C" int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[],
                            MPI_Status statuses[]) {
  if (any_ours()) complete_ours(listed(count, requests));
  return PMPI_Waitsome(count, requests, done, indices, statuses);
}
extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (any_ours()) progress_ours(listed(1, request));
  return PMPI_Test(request, flag, status);
}
extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (any_ours()) progress_ours(listed(count, requests));
  return PMPI_Testall(count, requests, flag, statuses);
}
extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
  if (any_ours()) progress_ours(listed(count, requests));
  return PMPI_Testany(count, requests, index, flag, status);
}
extern "C" int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                            MPI_Status statuses[]) {
  if (any_ours()) progress_ours(listed(count, requests));
  return PMPI_Testsome(count, requests, done, indices, statuses);
}
extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (any_ours()) progress_ours(listed(1, &request));
  return PMPI_Request_get_status(request, flag, status);
}
