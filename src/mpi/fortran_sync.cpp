/// Fences, post-start-complete-wait, locks and flushes, called from Fortran [MPI-3.1, 11.5].

#include "mpi/fortran.hpp"

using namespace oriel::mpi::fortran;

ORIEL_FORTRAN(win_fence, WIN_FENCE, Win_fence, (Int assertion, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_fence(assertion, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_start, WIN_START, Win_start,
              (Int group, Int assertion, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_start(PMPI_Group_f2c(group), assertion, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_complete, WIN_COMPLETE, Win_complete, (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_complete(MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_post, WIN_POST, Win_post, (Int group, Int assertion, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_post(PMPI_Group_f2c(group), assertion, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_wait, WIN_WAIT, Win_wait, (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_wait(MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_test, WIN_TEST, Win_test, (Int win, Logical& flag, MPI_Fint* ierror)) {
  int ended = 0;
  answer(ierror, MPI_Win_test(MPI_Win_f2c(win), &ended));
  flag = logical(ended != 0);
}

ORIEL_FORTRAN(win_lock, WIN_LOCK, Win_lock,
              (Int type, Int rank, Int assertion, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_lock(type, rank, assertion, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_unlock, WIN_UNLOCK, Win_unlock, (Int rank, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_unlock(rank, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_lock_all, WIN_LOCK_ALL, Win_lock_all,
              (Int assertion, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_lock_all(assertion, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_unlock_all, WIN_UNLOCK_ALL, Win_unlock_all, (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_unlock_all(MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_flush, WIN_FLUSH, Win_flush, (Int rank, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_flush(rank, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_flush_all, WIN_FLUSH_ALL, Win_flush_all, (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_flush_all(MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_flush_local, WIN_FLUSH_LOCAL, Win_flush_local,
              (Int rank, Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_flush_local(rank, MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_flush_local_all, WIN_FLUSH_LOCAL_ALL, Win_flush_local_all,
              (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_flush_local_all(MPI_Win_f2c(win)));
}

ORIEL_FORTRAN(win_sync, WIN_SYNC, Win_sync, (Int win, MPI_Fint* ierror)) {
  answer(ierror, MPI_Win_sync(MPI_Win_f2c(win)));
}
