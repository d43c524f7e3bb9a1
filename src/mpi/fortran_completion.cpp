/// MPI_Wait and its like, called from Fortran. Requests of ours are generalized requests of MPI's:
/// they are completed first, as from C, and MPI's own Fortran function does the rest, with
/// statuses, null requests and errors as it has them.

#include <mpi.h>

#include <array>
#include <vector>

#include "mpi/fortran.hpp"
#include "mpi/requests.hpp"

using namespace oriel::mpi::fortran;

namespace {

std::vector<MPI_Request> in_c(int count, const MPI_Fint* requests) {
  std::vector<MPI_Request> converted;
  for (int i = 0; i < count; ++i) converted.push_back(PMPI_Request_f2c(requests[i]));
  return converted;
}

void progress(int count, const MPI_Fint* requests) {
  if (oriel::mpi::any_ours()) oriel::mpi::progress_ours(in_c(count, requests));
}

void complete(int count, const MPI_Fint* requests) {
  if (oriel::mpi::any_ours()) oriel::mpi::complete_ours(in_c(count, requests));
}

}  // namespace

ORIEL_FORTRAN(wait, WAIT, Wait, (MPI_Fint & request, MPI_Fint* status, MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(wait);
  complete(1, &request);
  native_wait(request, status, ierror);
}

ORIEL_FORTRAN(waitall, WAITALL, Waitall,
              (Int count, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(waitall);
  complete(count, requests);
  native_wait(count, requests, statuses, ierror);
}

ORIEL_FORTRAN(waitany, WAITANY, Waitany,
              (Int count, MPI_Fint* requests, MPI_Fint& index, MPI_Fint* status,
               MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(waitany);
  complete(count, requests);
  native_wait(count, requests, index, status, ierror);
}

ORIEL_FORTRAN(waitsome, WAITSOME, Waitsome,
              (Int count, MPI_Fint* requests, MPI_Fint& done, MPI_Fint* indices, MPI_Fint* statuses,
               MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(waitsome);
  complete(count, requests);
  native_wait(count, requests, done, indices, statuses, ierror);
}

ORIEL_FORTRAN(test, TEST, Test,
              (MPI_Fint & request, Logical& flag, MPI_Fint* status, MPI_Fint* ierror)) {
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(test);
  progress(1, &request);
  native_test(request, flag, status, ierror);
}

/// To a program that ignores the status, Open MPI 4.1 says that no request ever ends: it is not
/// told.
ORIEL_FORTRAN(request_get_status, REQUEST_GET_STATUS, Request_get_status,
              (Int request, Logical& flag, MPI_Fint* status, MPI_Fint* ierror)) {
  static auto* const native_get_status = ORIEL_FORTRAN_NATIVE(request_get_status);
  std::array<MPI_Fint, sizeof(MPI_Status) / sizeof(MPI_Fint)> ignored{};
  progress(1, &request);
  native_get_status(request, flag, status == MPI_F_STATUS_IGNORE ? ignored.data() : status, ierror);
}

ORIEL_FORTRAN(testall, TESTALL, Testall,
              (Int count, MPI_Fint* requests, Logical& flag, MPI_Fint* statuses,
               MPI_Fint* ierror)) {
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(testall);
  progress(count, requests);
  native_test(count, requests, flag, statuses, ierror);
}

ORIEL_FORTRAN(testany, TESTANY, Testany,
              (Int count, MPI_Fint* requests, MPI_Fint& index, Logical& flag, MPI_Fint* status,
               MPI_Fint* ierror)) {
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(testany);
  progress(count, requests);
  native_test(count, requests, index, flag, status, ierror);
}

ORIEL_FORTRAN(testsome, TESTSOME, Testsome,
              (Int count, MPI_Fint* requests, MPI_Fint& done, MPI_Fint* indices, MPI_Fint* statuses,
               MPI_Fint* ierror)) {
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(testsome);
  progress(count, requests);
  native_test(count, requests, done, indices, statuses, ierror);
}
