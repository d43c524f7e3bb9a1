/// MPI_Wait and its like, called from Fortran. Requests of ours are generalized requests of MPI's:
/// what is done of them is told first, and MPI's own function does the rest, with statuses, null
/// requests and errors as it has them.

#include <cstddef>
#include <span>
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

/// A wait for one of several, of which MPI alone does not know when ours are done: tests, until
/// `test` says that it has an answer.
template <class Test>
void wait_by_tests(int count, const MPI_Fint* requests, MPI_Fint* ierror, Test test) {
  MPI_Fint status = MPI_SUCCESS;
  const std::vector<MPI_Request> converted = in_c(count, requests);
  do {
    oriel::mpi::progress_ours(converted);
  } while (!test(status) && status == MPI_SUCCESS);
  answer(ierror, status);
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

ORIEL_FORTRAN(test, TEST, Test,
              (MPI_Fint & request, Logical& flag, MPI_Fint* status, MPI_Fint* ierror)) {
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(test);
  progress(1, &request);
  native_test(request, flag, status, ierror);
}

ORIEL_FORTRAN(request_get_status, REQUEST_GET_STATUS, Request_get_status,
              (Int request, Logical& flag, MPI_Fint* status, MPI_Fint* ierror)) {
  static auto* const native_get_status = ORIEL_FORTRAN_NATIVE(request_get_status);
  progress(1, &request);
  native_get_status(request, flag, status, ierror);
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

ORIEL_FORTRAN(waitany, WAITANY, Waitany,
              (Int count, MPI_Fint* requests, MPI_Fint& index, MPI_Fint* status,
               MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(waitany);
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(testany);
  if (!oriel::mpi::any_ours()) return native_wait(count, requests, index, status, ierror);
  wait_by_tests(count, requests, ierror, [&](MPI_Fint& error) {
    Logical flag = 0;
    native_test(count, requests, index, flag, status, &error);
    return flag != 0;  // also where no request is active: the index is MPI_UNDEFINED
  });
}

ORIEL_FORTRAN(waitsome, WAITSOME, Waitsome,
              (Int count, MPI_Fint* requests, MPI_Fint& done, MPI_Fint* indices, MPI_Fint* statuses,
               MPI_Fint* ierror)) {
  static auto* const native_wait = ORIEL_FORTRAN_NATIVE(waitsome);
  static auto* const native_test = ORIEL_FORTRAN_NATIVE(testsome);
  if (!oriel::mpi::any_ours()) return native_wait(count, requests, done, indices, statuses, ierror);
  wait_by_tests(count, requests, ierror, [&](MPI_Fint& error) {
    native_test(count, requests, done, indices, statuses, &error);
    return done != 0;  // MPI_UNDEFINED where no request is active
  });
}
