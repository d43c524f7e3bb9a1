#pragma once
/// Datatypes as what windows move: runs of bytes, and elements of one kind.

#include <mpi.h>

#include <bit>
#include <bitset>
#include <cstddef>
#include <memory>
#include <vector>

#include <oriel/operations.hpp>

namespace oriel::mpi {

/// Bytes side by side, counted from the address that a program passes with the type.
struct Run {
  MPI_Aint offset = 0;
  std::size_t bytes = 0;
};

/// The operations of accumulates that a type takes, by OpCode.
using Operations = std::bitset<static_cast<std::size_t>(OpCode::maxloc) + 1>;

/// One instance of a datatype, flattened; `count` of them follow each other at multiples of
/// `extent`. Immutable once made.
struct FlatType {
  /// The data, in the order of the type map; what is adjacent in it is one run. Gaps of pair types
  /// (MPI_DOUBLE_INT) are no data. Empty for a type of size 0.
  std::vector<Run> data;
  /// The same in whole elements of accumulates, of `element.bytes` each: gaps within a pair belong
  /// to it. Empty if it is the same as `data` (see elements()).
  std::vector<Run> padded;
  std::size_t size = 0;  ///< bytes of data
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;  ///< lowest byte of the data; 0 if there is none
  MPI_Aint true_upper = 0;  ///< one past the highest
  /// What accumulates combine: all basic elements of the type are such ones (of MPI_INT and
  /// MPI_INT32_T nobody tells the difference). `is_uniform` is false when they are of several
  /// kinds: then there is no accumulate with it.
  ElementType element{};
  MPI_Datatype basic = MPI_DATATYPE_NULL;  ///< the predefined type of the first of them
  Operations operations{};                 ///< those that combine them
  bool is_uniform = true;

  [[nodiscard]] const std::vector<Run>& elements() const noexcept {
    return padded.empty() ? data : padded;
  }
  // What summarize() finds in the above, as every operation asks for it.
  std::size_t element_bytes = 0;  ///< of whole elements
  /// Any number of instances is one run of elements, from the very address on.
  bool has_adjacent_elements = false;
  bool is_contiguous = true;  ///< the same of its data, gaps in pairs being none

  void summarize() noexcept;
};

/// How many elements `bytes` are. Most sizes are powers of two, which need no division.
[[nodiscard]] inline std::size_t elements_in(std::size_t bytes, ElementType type) noexcept {
  const std::size_t size = type.bytes;
  return (size & (size - 1)) == 0 ? bytes >> std::countr_zero(size) : bytes / size;
}

/// The type, flattened once and kept with the handle: predefined ones by a table, derived ones by
/// an attribute of the type, which MPI drops when the type is freed, while who holds the pointer
/// goes on. Threads: any. Cost: predefined: a lookup; derived, after the first time: an attribute.
/// Errors: Failure MPI_ERR_TYPE (MPI_DATATYPE_NULL, not committed as far as MPI tells).
[[nodiscard]] std::shared_ptr<const FlatType> flatten(MPI_Datatype type);

/// A predefined type, or null: without a count of references, for the fast path.
[[nodiscard]] const FlatType* find_predefined(MPI_Datatype type) noexcept;

/// The predefined operation, as Oriel's; on a type of size 0 always no_op. Where MPI-3.1, 5.9.2 is
/// stricter than Open MPI (sums of MPI_CHAR, of MPI_BYTE), this is as lenient.
/// Errors: Failure MPI_ERR_OP (an operation of the user's own, MPI_OP_NULL, or one without a
/// meaning for the element), MPI_ERR_TYPE (elements of several kinds).
[[nodiscard]] OpCode operation_code(MPI_Op op, const FlatType& type);

/// Where there is nothing to be done by it. Errors: Failure MPI_ERR_OP (of the user's own,
/// MPI_OP_NULL).
void check_predefined(MPI_Op op);

/// Makes the tables. Called once, after MPI_Init.
void prepare_datatypes();

}  // namespace oriel::mpi
