#include "mpi_names.hpp"

extern "C" void mpi_helper_();  // no call of MPI, whatever its name says

int main() {
  MPI_Init();
  MPI_Send();
  MPI_Put();
  PMPI_Put();
  mpi_put_();
  mpi_win_fence_f08_();
  mpi_send_f08_();
#ifndef WITHOUT_LIBRARY
  mpi_helper_();
#endif
  return mpi_fortran_bottom_;
}
