/// Names, info, groups and error handlers of windows, called from Fortran.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "mpi/call.hpp"
#include "mpi/fortran.hpp"
#include "mpi/objects.hpp"

using namespace oriel::mpi::fortran;

namespace {

/// A string of Fortran's without the blanks that fill it up; those in front belong to it.
std::string trimmed(const char* text, int length) {
  auto end = static_cast<std::size_t>(std::max(length, 0));
  while (end > 0 && text[end - 1] == ' ') --end;
  return {text, end};
}

}  // namespace

ORIEL_FORTRAN(win_set_name, WIN_SET_NAME, Win_set_name,
              (Int win, const char* name, MPI_Fint* ierror, int length)) {
  answer(ierror, MPI_Win_set_name(MPI_Win_f2c(win), trimmed(name, length).c_str()));
}

ORIEL_FORTRAN(win_get_name, WIN_GET_NAME, Win_get_name,
              (Int win, char* name, MPI_Fint& result_length, MPI_Fint* ierror, int length)) {
  std::array<char, MPI_MAX_OBJECT_NAME> text{};
  int used = 0;
  const int status = MPI_Win_get_name(MPI_Win_f2c(win), text.data(), &used);
  if (status == MPI_SUCCESS) {
    result_length = std::min(used, length);
    const auto copied = static_cast<std::size_t>(result_length);
    std::memcpy(name, text.data(), copied);
    std::fill(name + copied, name + length, ' ');
  }
  answer(ierror, status);
}

// Open MPI's mpi_f08 hands on a length of 1, so its entries are taken over one call further out.
extern "C" {
ORIEL_FORTRAN_SPELLING(mpi_win_get_name_f08_, ompi_win_get_name_f,
                       (Int win, char* name, MPI_Fint& result_length, MPI_Fint* ierror, int length))
ORIEL_FORTRAN_SPELLING(pmpi_win_get_name_f08_, ompi_win_get_name_f,
                       (Int win, char* name, MPI_Fint& result_length, MPI_Fint* ierror, int length))
}

ORIEL_FORTRAN(win_set_info, WIN_SET_INFO, Win_set_info, (Int win, Int info, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_set_info(MPI_Win_f2c(win), PMPI_Info_f2c(info)));
}

ORIEL_FORTRAN(win_get_info, WIN_GET_INFO, Win_get_info,
              (Int win, MPI_Fint& info, MPI_Fint* ierror)) {
  MPI_Info used = MPI_INFO_NULL;
  const int status = MPI_Win_get_info(MPI_Win_f2c(win), &used);
  answer(ierror, status, info, PMPI_Info_c2f, used);
}

ORIEL_FORTRAN(win_get_group, WIN_GET_GROUP, Win_get_group,
              (Int win, MPI_Fint& group, MPI_Fint* ierror)) {
  MPI_Group made = MPI_GROUP_NULL;
  const int status = MPI_Win_get_group(MPI_Win_f2c(win), &made);
  answer(ierror, status, group, PMPI_Group_c2f, made);
}

/// By MPI's own Fortran function, for what calls it with Fortran's arguments in windows that stay
/// native.
ORIEL_FORTRAN(win_create_errhandler, WIN_CREATE_ERRHANDLER, Win_create_errhandler,
              (oriel::mpi::FortranHandler * function, MPI_Fint& handler, MPI_Fint* ierror)) {
  static auto* const native_create = ORIEL_FORTRAN_NATIVE(win_create_errhandler);
  int status = MPI_SUCCESS;
  native_create(function, handler, &status);
  if (status == MPI_SUCCESS)
    status = oriel::mpi::guarded(MPI_COMM_WORLD, "MPI_Win_create_errhandler", [&] {
      oriel::mpi::register_fortran_error_handler(PMPI_Errhandler_f2c(handler), function);
    });
  answer(ierror, status);
}

ORIEL_FORTRAN(errhandler_free, ERRHANDLER_FREE, Errhandler_free,
              (MPI_Fint & handler, MPI_Fint* ierror)) {
  MPI_Errhandler freed = PMPI_Errhandler_f2c(handler);
  const int status = MPI_Errhandler_free(&freed);
  answer(ierror, status, handler, PMPI_Errhandler_c2f, freed);
}

ORIEL_FORTRAN(win_set_errhandler, WIN_SET_ERRHANDLER, Win_set_errhandler,
              (Int win, Int handler, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_set_errhandler(MPI_Win_f2c(win), PMPI_Errhandler_f2c(handler)));
}

ORIEL_FORTRAN(win_get_errhandler, WIN_GET_ERRHANDLER, Win_get_errhandler,
              (Int win, MPI_Fint& handler, MPI_Fint* ierror)) {
  MPI_Errhandler used = MPI_ERRHANDLER_NULL;
  const int status = MPI_Win_get_errhandler(MPI_Win_f2c(win), &used);
  answer(ierror, status, handler, PMPI_Errhandler_c2f, used);
}

ORIEL_FORTRAN(win_call_errhandler, WIN_CALL_ERRHANDLER, Win_call_errhandler,
              (Int win, Int code, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_call_errhandler(MPI_Win_f2c(win), code));
}
