#pragma once
/// Derived datatypes from a seed, by every constructor that MPI has.

#include <mpi.h>

#include <random>
#include <string>

namespace oriel::mpi {

/// Owns a type, committed.
class TypeHandle {
 public:
  explicit TypeHandle(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  TypeHandle(const TypeHandle&) = delete;
  TypeHandle& operator=(const TypeHandle&) = delete;
  ~TypeHandle() { free(); }
  void free() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/// A type, and the words it was made with.
struct RandomType {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< not committed; the caller's to free, if derived
  bool is_derived = false;
  std::string text;
};

/// @param depth  of constructors, one around the other
/// @param basic  of which it is to be made; MPI_DATATYPE_NULL: of any
[[nodiscard]] RandomType make_random_type(std::mt19937_64& random, int depth, MPI_Datatype basic);

}  // namespace oriel::mpi
