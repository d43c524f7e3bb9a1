#pragma once

// Names as they stand in programs; what MPI's functions take and do is of no concern here.
extern "C" {
void MPI_Init();
void MPI_Send();
void MPI_Put();
void MPI_Get();
void PMPI_Put();
void mpi_put_();
void mpi_win_fence_f08_();
void mpi_send_f08_();
void ompi_win_fence_f();
extern int mpi_fortran_bottom_;
}
