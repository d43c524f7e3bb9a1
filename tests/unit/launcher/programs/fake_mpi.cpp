#include "mpi_names.hpp"

void MPI_Init() {}
void MPI_Send() {}
void MPI_Put() {}
void MPI_Get() {}
void PMPI_Put() {}
void mpi_put_() {}
void mpi_win_fence_f08_() {
  ompi_win_fence_f();
}
void mpi_send_f08_() {}
void ompi_win_fence_f() {}
int mpi_fortran_bottom_;
