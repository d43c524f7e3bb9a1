#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>

#include "objects_test.hpp"

namespace oriel::mpi {
namespace {
std::optional<Runtime> runtime;
}
const Runtime& job() {
  return *runtime;
}
}  // namespace oriel::mpi

int main(int argc, char** argv) {
  PMPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  oriel::mpi::runtime.emplace(MPI_COMM_WORLD);
  const int status = RUN_ALL_TESTS();
  oriel::mpi::runtime.reset();
  PMPI_Finalize();
  return status;
}
