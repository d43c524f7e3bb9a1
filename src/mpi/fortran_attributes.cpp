/// Attributes of windows, called from Fortran: integers of the size of an address [MPI-3.1, 11.2.6
/// and 17.2.7]. Windows that stay native keep theirs by MPI's own Fortran functions, which make the
/// keyvals too: their callbacks have Fortran's arguments.

#include "mpi/call.hpp"
#include "mpi/fortran.hpp"
#include "mpi/objects.hpp"
#include "mpi/win.hpp"

using namespace oriel::mpi::fortran;
using oriel::mpi::guarded;
using oriel::mpi::Win;

ORIEL_FORTRAN(win_create_keyval, WIN_CREATE_KEYVAL, Win_create_keyval,
              (void (*copy)(), oriel::mpi::FortranDelete* on_delete, MPI_Fint& keyval,
               Address extra_state, MPI_Fint* ierror)) {
  static auto* const native_create = ORIEL_FORTRAN_NATIVE(win_create_keyval);
  int status = MPI_SUCCESS;
  native_create(copy, on_delete, keyval, extra_state, &status);
  if (status == MPI_SUCCESS)
    status = guarded(MPI_COMM_WORLD, "MPI_Win_create_keyval",
                     [&] { oriel::mpi::register_fortran_keyval(keyval, on_delete, extra_state); });
  answer(ierror, status);
}

ORIEL_FORTRAN(win_free_keyval, WIN_FREE_KEYVAL, Win_free_keyval,
              (MPI_Fint & keyval, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_free_keyval(&keyval));
}

ORIEL_FORTRAN(win_set_attr, WIN_SET_ATTR, Win_set_attr,
              (Int win, Int keyval, Address value, MPI_Fint* ierror)) {
  static auto* const native_set = ORIEL_FORTRAN_NATIVE(win_set_attr);
  Win* const window = Win::of_fortran(win);
  if (window == nullptr) return native_set(win, keyval, value, ierror);
  answer(ierror, guarded(window, "MPI_Win_set_attr",
                         [&] { window->attributes.set_fortran(*window, keyval, value); }));
}

ORIEL_FORTRAN(win_get_attr, WIN_GET_ATTR, Win_get_attr,
              (Int win, Int keyval, MPI_Aint& value, Logical& flag, MPI_Fint* ierror)) {
  static auto* const native_get = ORIEL_FORTRAN_NATIVE(win_get_attr);
  Win* const window = Win::of_fortran(win);
  if (window == nullptr) return native_get(win, keyval, value, flag, ierror);
  answer(ierror, guarded(window, "MPI_Win_get_attr", [&] {
           flag = logical(window->attributes.get_fortran(*window, keyval, &value));
         }));
}

ORIEL_FORTRAN(win_delete_attr, WIN_DELETE_ATTR, Win_delete_attr,
              (Int win, Int keyval, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_delete_attr(MPI_Win_f2c(win), keyval));
}
