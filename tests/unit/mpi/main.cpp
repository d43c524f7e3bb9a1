// main() of the tests of the drop-in's parts.

#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi/datatype.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  oriel::mpi::prepare_datatypes();
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
