/// Attributes of windows, called from Fortran: integers of the size of an address [MPI-3.1, 11.2.6
/// and 17.2.7]. Windows that stay native keep theirs by MPI's own Fortran functions.

#include "mpi/call.hpp"
#include "mpi/fortran.hpp"
#include "mpi/fortran_callbacks.hpp"
#include "mpi/win.hpp"

using namespace oriel::mpi::fortran;
using oriel::mpi::Win;

namespace {

bool is_predefined(int keyval) noexcept {
  return keyval == MPI_WIN_BASE || keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT ||
         keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL;
}

/// C reads the base as such and all others through a pointer; in Fortran they are the values.
int get_predefined(const Win& window, int keyval, MPI_Aint& value, int& flag) noexcept {
  void* found = nullptr;
  const int status = MPI_Win_get_attr(window.handle(), keyval, &found, &flag);
  if (status != MPI_SUCCESS || flag == 0) return status;
  if (keyval == MPI_WIN_BASE)
    value = reinterpret_cast<MPI_Aint>(found);
  else if (keyval == MPI_WIN_SIZE)
    value = *static_cast<const MPI_Aint*>(found);
  else
    value = *static_cast<const int*>(found);
  return status;
}

int get(Win& window, int keyval, MPI_Aint& value, int& flag) noexcept {
  if (is_predefined(keyval)) return get_predefined(window, keyval, value, flag);
  return oriel::mpi::guarded(&window, "MPI_Win_get_attr", [&] {
    flag = oriel::mpi::get_fortran_attribute(window, keyval, value) ? 1 : 0;
  });
}

}  // namespace

ORIEL_FORTRAN(win_create_keyval, WIN_CREATE_KEYVAL, Win_create_keyval,
              (void (*copy)(), oriel::mpi::FortranDelete* callback, MPI_Fint& keyval,
               Address extra_state, MPI_Fint* ierror)) {
  static auto* const native_create = ORIEL_FORTRAN_NATIVE(win_create_keyval);
  int status = MPI_SUCCESS;
  native_create(copy, callback, keyval, extra_state, &status);
  if (status == MPI_SUCCESS) oriel::mpi::register_keyval(keyval, callback, extra_state);
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
  answer(ierror, oriel::mpi::guarded(window, "MPI_Win_set_attr", [&] {
           oriel::mpi::set_fortran_attribute(*window, keyval, value);
         }));
}

ORIEL_FORTRAN(win_get_attr, WIN_GET_ATTR, Win_get_attr,
              (Int win, Int keyval, MPI_Aint& value, Logical& flag, MPI_Fint* ierror)) {
  static auto* const native_get = ORIEL_FORTRAN_NATIVE(win_get_attr);
  Win* const window = Win::of_fortran(win);
  if (window == nullptr) return native_get(win, keyval, value, flag, ierror);
  int found = 0;
  answer(ierror, get(*window, keyval, value, found));
  flag = logical(found);
}

ORIEL_FORTRAN(win_delete_attr, WIN_DELETE_ATTR, Win_delete_attr,
              (Int win, Int keyval, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_delete_attr(MPI_Win_f2c(win), keyval));
}
