/// Windows and their memory, made and freed from Fortran [MPI-3.1, 11.2], and the handles of
/// windows in both languages.

#include "mpi/fortran.hpp"
#include "mpi/win.hpp"

using namespace oriel::mpi::fortran;

extern "C" {

__attribute__((visibility("default"))) MPI_Fint MPI_Win_c2f(MPI_Win win) {
  const auto* const window = oriel::mpi::Win::of(win);
  return window != nullptr ? window->fortran() : PMPI_Win_c2f(win);
}

__attribute__((visibility("default"))) MPI_Win MPI_Win_f2c(MPI_Fint index) {
  const auto* const window = oriel::mpi::Win::of_fortran(index);
  return window != nullptr ? window->handle() : PMPI_Win_f2c(index);
}

}  // extern "C"

ORIEL_FORTRAN(win_create, WIN_CREATE, Win_create,
              (void* base, Address size, Int disp_unit, Int info, Int comm, MPI_Fint& win,
               MPI_Fint* ierror)) {
  MPI_Win made = MPI_WIN_NULL;
  const int status = MPI_Win_create(buffer(base), size, disp_unit, PMPI_Info_f2c(info),
                                    PMPI_Comm_f2c(comm), &made);
  answer(ierror, status, win, MPI_Win_c2f, made);
}

ORIEL_FORTRAN(win_allocate, WIN_ALLOCATE, Win_allocate,
              (Address size, Int disp_unit, Int info, Int comm, void*& base, MPI_Fint& win,
               MPI_Fint* ierror)) {
  MPI_Win made = MPI_WIN_NULL;
  const int status =
      MPI_Win_allocate(size, disp_unit, PMPI_Info_f2c(info), PMPI_Comm_f2c(comm), &base, &made);
  answer(ierror, status, win, MPI_Win_c2f, made);
}

ORIEL_FORTRAN(win_allocate_shared, WIN_ALLOCATE_SHARED, Win_allocate_shared,
              (Address size, Int disp_unit, Int info, Int comm, void*& base, MPI_Fint& win,
               MPI_Fint* ierror)) {
  MPI_Win made = MPI_WIN_NULL;
  const int status = MPI_Win_allocate_shared(size, disp_unit, PMPI_Info_f2c(info),
                                             PMPI_Comm_f2c(comm), &base, &made);
  answer(ierror, status, win, MPI_Win_c2f, made);
}

ORIEL_FORTRAN(win_shared_query, WIN_SHARED_QUERY, Win_shared_query,
              (Int win, Int rank, MPI_Aint& size, MPI_Fint& disp_unit, void*& base,
               MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_shared_query(MPI_Win_f2c(win), rank, &size, &disp_unit, &base));
}

// What a call with a TYPE(C_PTR) for the address becomes in `use mpi`: an address by reference, as
// the integer is.

ORIEL_FORTRAN(win_allocate_cptr, WIN_ALLOCATE_CPTR, Win_allocate_cptr,
              (Address size, Int disp_unit, Int info, Int comm, void*& base, MPI_Fint& win,
               MPI_Fint* ierror)) {
  ompi_win_allocate_f(size, disp_unit, info, comm, base, win, ierror);
}

ORIEL_FORTRAN(win_allocate_shared_cptr, WIN_ALLOCATE_SHARED_CPTR, Win_allocate_shared_cptr,
              (Address size, Int disp_unit, Int info, Int comm, void*& base, MPI_Fint& win,
               MPI_Fint* ierror)) {
  ompi_win_allocate_shared_f(size, disp_unit, info, comm, base, win, ierror);
}

ORIEL_FORTRAN(win_shared_query_cptr, WIN_SHARED_QUERY_CPTR, Win_shared_query_cptr,
              (Int win, Int rank, MPI_Aint& size, MPI_Fint& disp_unit, void*& base,
               MPI_Fint* ierror)) {
  ompi_win_shared_query_f(win, rank, size, disp_unit, base, ierror);
}

ORIEL_FORTRAN(win_create_dynamic, WIN_CREATE_DYNAMIC, Win_create_dynamic,
              (Int info, Int comm, MPI_Fint& win, MPI_Fint* ierror)) {
  MPI_Win made = MPI_WIN_NULL;
  const int status = MPI_Win_create_dynamic(PMPI_Info_f2c(info), PMPI_Comm_f2c(comm), &made);
  answer(ierror, status, win, MPI_Win_c2f, made);
}

ORIEL_FORTRAN(win_attach, WIN_ATTACH, Win_attach,
              (Int win, void* base, Address size, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_attach(MPI_Win_f2c(win), buffer(base), size));
}

ORIEL_FORTRAN(win_detach, WIN_DETACH, Win_detach, (Int win, void* base, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_detach(MPI_Win_f2c(win), buffer(base)));
}

ORIEL_FORTRAN(win_free, WIN_FREE, Win_free, (MPI_Fint & win, MPI_Fint* ierror)) {
  MPI_Win freed = MPI_Win_f2c(win);
  const int status = MPI_Win_free(&freed);
  answer(ierror, status, win, MPI_Win_c2f, freed);
}
