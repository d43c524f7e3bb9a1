#pragma once
/// The predefined datatypes, as this MPI itself counts them.

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

namespace oriel::mpi {

/// Fortran's handles are numbers, the first ones those of predefined types. Without those that
/// have no bytes: that this MPI has not got, or that marked bounds in MPI 1.
[[nodiscard]] inline std::vector<MPI_Datatype> predefined_types() {
  std::vector<MPI_Datatype> types;
  for (MPI_Fint handle = 0; handle < 200; ++handle) {
    const MPI_Datatype type = MPI_Type_f2c(handle);
    if (type == nullptr || type == MPI_DATATYPE_NULL) continue;
    int counts[3] = {};
    int combiner = MPI_COMBINER_DUP;
    int size = 0;
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    if (combiner != MPI_COMBINER_NAMED) continue;
    MPI_Type_size(type, &size);
    if (size > 0) types.push_back(type);
  }
  return types;
}

[[nodiscard]] inline std::string name_of(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  MPI_Type_get_name(type, name.data(), &length);
  return name.data();
}

}  // namespace oriel::mpi
