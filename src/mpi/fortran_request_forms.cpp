/// The operations that return a request, called from Fortran [MPI-3.1, 11.3.5].

#include "mpi/fortran.hpp"

using namespace oriel::mpi::fortran;

ORIEL_FORTRAN(rput, RPUT, Rput,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int win, MPI_Fint& request, MPI_Fint* ierror)) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int status = MPI_Rput(buffer(origin), count, PMPI_Type_f2c(type), target, disp,
                              target_count, PMPI_Type_f2c(target_type), MPI_Win_f2c(win), &made);
  answer(ierror, status, request, PMPI_Request_c2f, made);
}

ORIEL_FORTRAN(rget, RGET, Rget,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int win, MPI_Fint& request, MPI_Fint* ierror)) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int status = MPI_Rget(buffer(origin), count, PMPI_Type_f2c(type), target, disp,
                              target_count, PMPI_Type_f2c(target_type), MPI_Win_f2c(win), &made);
  answer(ierror, status, request, PMPI_Request_c2f, made);
}

ORIEL_FORTRAN(raccumulate, RACCUMULATE, Raccumulate,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int op, Int win, MPI_Fint& request, MPI_Fint* ierror)) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int status =
      MPI_Raccumulate(buffer(origin), count, PMPI_Type_f2c(type), target, disp, target_count,
                      PMPI_Type_f2c(target_type), PMPI_Op_f2c(op), MPI_Win_f2c(win), &made);
  answer(ierror, status, request, PMPI_Request_c2f, made);
}

ORIEL_FORTRAN(rget_accumulate, RGET_ACCUMULATE, Rget_accumulate,
              (void* origin, Int count, Int type, void* result, Int result_count, Int result_type,
               Int target, Address disp, Int target_count, Int target_type, Int op, Int win,
               MPI_Fint& request, MPI_Fint* ierror)) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int status =
      MPI_Rget_accumulate(buffer(origin), count, PMPI_Type_f2c(type), buffer(result), result_count,
                          PMPI_Type_f2c(result_type), target, disp, target_count,
                          PMPI_Type_f2c(target_type), PMPI_Op_f2c(op), MPI_Win_f2c(win), &made);
  answer(ierror, status, request, PMPI_Request_c2f, made);
}
