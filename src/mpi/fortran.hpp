#pragma once
/// How every Fortran entry of the drop-in is written: defined once, exported under each spelling.
///
/// Open MPI's Fortran functions call PMPI_ functions, so Fortran programs pass by what the drop-in
/// defines for C. An entry here turns Fortran's arguments into C's and calls the MPI_ function.
/// Callers: mpif.h and `use mpi` call mpi_put_ (or as their compiler spells it); `use mpi_f08`
/// calls ompi_put_f, for PMPI_Put as for MPI_Put, and pmpi_win_test_ and its like where a LOGICAL
/// comes back. Hence the PMPI spellings of Fortran are ours as well; those of C stay MPI's own.
///
/// Arguments come by reference; lengths of strings behind all others, as int. `ierror` is null
/// where a program of mpi_f08 leaves it out.

#include <mpi.h>

/// Begins the definition of a function, whose name is given in the three ways in which it is spelt:
/// ORIEL_FORTRAN(win_free, WIN_FREE, Win_free, (MPI_Fint & win, MPI_Fint* ierror)) { ... }
#define ORIEL_FORTRAN(lower, UPPER, Mixed, parameters)                                            \
  extern "C" {                                                                                    \
  __attribute__((visibility("default"))) void ompi_##lower##_f parameters;                        \
  ORIEL_FORTRAN_SPELLINGS(mpi_##lower, MPI_##UPPER, MPI_##Mixed, ompi_##lower##_f, parameters)    \
  ORIEL_FORTRAN_SPELLINGS(pmpi_##lower, PMPI_##UPPER, PMPI_##Mixed, ompi_##lower##_f, parameters) \
  }                                                                                               \
  void ompi_##lower##_f parameters

#define ORIEL_FORTRAN_SPELLINGS(lower, UPPER, Mixed, target, parameters) \
  ORIEL_FORTRAN_SPELLING(lower, target, parameters)                      \
  ORIEL_FORTRAN_SPELLING(lower##_, target, parameters)                   \
  ORIEL_FORTRAN_SPELLING(lower##__, target, parameters)                  \
  ORIEL_FORTRAN_SPELLING(UPPER, target, parameters)                      \
  ORIEL_FORTRAN_SPELLING(Mixed##_f, target, parameters)                  \
  ORIEL_FORTRAN_SPELLING(Mixed##_f08, target, parameters)

#define ORIEL_FORTRAN_SPELLING(name, target, parameters) \
  __attribute__((visibility("default"), alias(#target))) void name parameters;

/// The function of MPI's Fortran library that the entry ompi_`lower`_f stands in front of.
#define ORIEL_FORTRAN_NATIVE(lower) \
  ::oriel::mpi::fortran::native<decltype(ompi_##lower##_f)>("ompi_" #lower "_f")

namespace oriel::mpi::fortran {

using Int = const MPI_Fint&;      ///< INTEGER, and handles
using Address = const MPI_Aint&;  ///< INTEGER(KIND=MPI_ADDRESS_KIND)
using Logical = MPI_Fint;

inline void answer(MPI_Fint* ierror, int status) noexcept {
  if (ierror != nullptr) *ierror = status;
}

/// The Fortran handle of what a call has made, where it has. @param to_fortran  MPI_Win_c2f and so
/// on
template <class Handle>
void answer(MPI_Fint* ierror, int status, MPI_Fint& handle, MPI_Fint (*to_fortran)(Handle),
            Handle made) {
  if (status == MPI_SUCCESS) handle = to_fortran(made);
  answer(ierror, status);
}

/// LOGICAL, as the compiler writes it that MPI's Fortran library was built with (gfortran).
inline constexpr Logical logical(int flag) noexcept {
  return flag != 0 ? 1 : 0;
}

/// A buffer as C takes it: MPI_BOTTOM is a variable in Fortran and null in C. (MPI_IN_PLACE is not
/// an argument of any one-sided function.)
[[nodiscard]] void* buffer(void* address) noexcept;

/// Aborts the job if there is no such function: who calls us was linked with that library.
[[nodiscard]] void* find_native(const char* name) noexcept;

template <class Function>
[[nodiscard]] Function* native(const char* name) noexcept {
  return reinterpret_cast<Function*>(find_native(name));
}

}  // namespace oriel::mpi::fortran
