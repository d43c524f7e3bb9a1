#pragma once
/// What objects of windows are told from Fortran: callbacks with Fortran's arguments, and attribute
/// values that are integers.

#include <mpi.h>

namespace oriel::mpi {

class Win;

/// SUBROUTINE WIN_DELETE_ATTR_FUNCTION(WIN, WIN_KEYVAL, ATTRIBUTE_VAL, EXTRA_STATE, IERROR). Copy
/// functions are never called: windows are not duplicated.
using FortranDelete = void(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                           MPI_Fint* ierror);

/// SUBROUTINE WIN_ERRHANDLER_FUNCTION(WIN, ERROR_CODE). Fortran has no further arguments.
using FortranErrorFunction = void(MPI_Fint* win, MPI_Fint* code);

/// The keyval, which MPI's own Fortran function has made (it carries the attributes of windows that
/// stay native), for windows of ours.
void register_keyval(int keyval, FortranDelete* callback, MPI_Aint extra_state);

/// The same for an error handler.
void register_error_handler(MPI_Errhandler handler, FortranErrorFunction* function);

/// Sets and reads an attribute as an integer [MPI-3.1, 17.2.7]: a value that was set in Fortran
/// reads in C as the address of the integer; one that was set in C reads in Fortran as the pointer.
/// Errors: as Attributes::set(). Predefined attributes are not among them.
void set_fortran_attribute(Win& window, int keyval, MPI_Aint value);
[[nodiscard]] bool get_fortran_attribute(const Win& window, int keyval, MPI_Aint& value);

}  // namespace oriel::mpi
