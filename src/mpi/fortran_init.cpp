/// MPI's start, called from Fortran: as from C, where Oriel starts with it.

#include "mpi/fortran.hpp"

using namespace oriel::mpi::fortran;

ORIEL_FORTRAN(init, INIT, Init, (MPI_Fint * ierror)) {
  answer(ierror, MPI_Init(nullptr, nullptr));
}

ORIEL_FORTRAN(init_thread, INIT_THREAD, Init_thread,
              (Int required, MPI_Fint& provided, MPI_Fint* ierror)) {
  answer(ierror, MPI_Init_thread(nullptr, nullptr, required, &provided));
}
