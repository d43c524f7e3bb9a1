#include "mpi_names.hpp"

extern "C" void mpi_helper_() {
  MPI_Get();
}
