// Where the drop-in comes into a program: when it is loaded, and when MPI starts.

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "mpi/job.hpp"

namespace {

/// Handles and constants are those of one MPI library; with another they would mean anything.
/// That cannot be mended later, so the program ends before it has begun.
[[gnu::constructor]] void check_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> found{};
  int length = 0;
  PMPI_Get_library_version(found.data(), &length);
  const std::string_view version(found.data());
  if (version.starts_with("Open MPI v4.")) return;
  std::fprintf(stderr,
               "oriel: this program is linked against another MPI than the drop-in, which is for "
               "Open MPI 4: %.60s\noriel: run it without liboriel_mpi.so, or build it with Open "
               "MPI's mpicc\n",
               found.data());
  ::_exit(1);
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int status = PMPI_Init(argc, argv);
  if (status == MPI_SUCCESS) oriel::mpi::start();
  return status;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = PMPI_Init_thread(argc, argv, required, provided);
  if (status == MPI_SUCCESS) oriel::mpi::start();
  return status;
}
