#pragma once
/// Types that are not made of others.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "mpi/datatype.hpp"

namespace oriel::mpi {

/// Makes the table of find_predefined().
void prepare_predefined_types();

/// One that has a name and is not in the table: bytes that are only replaced and read. Those that
/// marked bounds in MPI 1 have none.
[[nodiscard]] FlatType flatten_unknown(MPI_Datatype type, std::size_t bytes);

/// One that was asked for by its precision [MPI_Type_create_f90_real, …].
/// @param arguments  the integers of MPI_Type_get_contents
[[nodiscard]] FlatType flatten_f90(MPI_Datatype type, int combiner, std::span<const int> arguments,
                                   std::size_t bytes);

}  // namespace oriel::mpi
