/// Put, get and accumulates, called from Fortran [MPI-3.1, 11.3].

#include "mpi/fortran.hpp"

using namespace oriel::mpi::fortran;

ORIEL_FORTRAN(put, PUT, Put,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Put(buffer(origin), count, PMPI_Type_f2c(type), target, disp, target_count,
                         PMPI_Type_f2c(target_type), MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(get, GET, Get,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Get(buffer(origin), count, PMPI_Type_f2c(type), target, disp, target_count,
                         PMPI_Type_f2c(target_type), MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(accumulate, ACCUMULATE, Accumulate,
              (void* origin, Int count, Int type, Int target, Address disp, Int target_count,
               Int target_type, Int op, Int win, MPI_Fint* ierror)) {
  answer(ierror,
         MPI_Accumulate(buffer(origin), count, PMPI_Type_f2c(type), target, disp, target_count,
                        PMPI_Type_f2c(target_type), PMPI_Op_f2c(op), MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(get_accumulate, GET_ACCUMULATE, Get_accumulate,
              (void* origin, Int count, Int type, void* result, Int result_count, Int result_type,
               Int target, Address disp, Int target_count, Int target_type, Int op, Int win,
               MPI_Fint* ierror)) {
  answer(ierror,
         MPI_Get_accumulate(buffer(origin), count, PMPI_Type_f2c(type), buffer(result),
                            result_count, PMPI_Type_f2c(result_type), target, disp, target_count,
                            PMPI_Type_f2c(target_type), PMPI_Op_f2c(op), MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(fetch_and_op, FETCH_AND_OP, Fetch_and_op,
              (void* origin, void* result, Int type, Int target, Address disp, Int op, Int win,
               MPI_Fint* ierror)) {
  answer(ierror, MPI_Fetch_and_op(buffer(origin), buffer(result), PMPI_Type_f2c(type), target, disp,
                                  PMPI_Op_f2c(op), MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(compare_and_swap, COMPARE_AND_SWAP, Compare_and_swap,
              (void* origin, void* compare, void* result, Int type, Int target, Address disp,
               Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Compare_and_swap(buffer(origin), buffer(compare), buffer(result),
                                      PMPI_Type_f2c(type), target, disp, MPI_Win_f2c(win)));
}
