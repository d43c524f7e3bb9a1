#pragma once
/// How flattened types are put together.

#include <mpi.h>

#include <span>
#include <vector>

#include "mpi/datatype.hpp"

namespace oriel::mpi {

/// A type in the making: instances of others, added in the order of the type map.
class TypeMap {
 public:
  /// `count` instances of `part`, the first at `offset`, the others an extent behind each other.
  void add(const FlatType& part, MPI_Aint offset, MPI_Aint count);
  /// Once all parts were added. Lower bound and extent are left for MPI to tell.
  [[nodiscard]] FlatType finish() &&;

 private:
  static void append(std::vector<Run>& runs, const std::vector<Run>& more, const FlatType& part,
                     MPI_Aint offset, MPI_Aint count);
  void add_element(const FlatType& part);

  FlatType flat_;
};

/// [MPI_Type_create_subarray, MPI_Type_create_darray]
/// @param arguments  the integers of MPI_Type_get_contents
void add_subarray(TypeMap& map, const FlatType& part, std::span<const int> arguments);
void add_darray(TypeMap& map, const FlatType& part, std::span<const int> arguments);

}  // namespace oriel::mpi
