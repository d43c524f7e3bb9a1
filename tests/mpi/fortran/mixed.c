/* The C half of a program of two languages: windows by their Fortran handles, and attributes that one
 * language sets and the other reads. Functions return 0, or the line of what is not as it should be. */
#include <mpi.h>

#define EXPECT(condition) \
  if (!(condition)) return __LINE__

static int deletes = 0;
static MPI_Aint deleted = 0;
static int answer = 42; /* what an attribute points to */

/* The value as C sees it: for what Fortran has set, the address of the integer [MPI-3.1, 17.2.7]. */
static int delete_fortran_value(MPI_Win win, int keyval, void* value, void* extra_state) {
  (void)keyval;
  ++deletes;
  deleted = *(MPI_Aint*)value;
  return win != MPI_WIN_NULL && extra_state == &deletes ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int c_create(int* memory, int count, MPI_Fint* win) {
  MPI_Win made;
  EXPECT(MPI_Win_create(memory, count * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                        &made) == MPI_SUCCESS);
  *win = MPI_Win_c2f(made);
  EXPECT(MPI_Win_f2c(*win) == made);
  EXPECT(MPI_Win_c2f(MPI_WIN_NULL) != *win);
  EXPECT(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
  return 0;
}

int c_put(MPI_Fint win, int value, int target, MPI_Aint displacement) {
  MPI_Win in_c = MPI_Win_f2c(win);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, in_c) == MPI_SUCCESS);
  EXPECT(MPI_Put(&value, 1, MPI_INT, target, displacement, 1, MPI_INT, in_c) == MPI_SUCCESS);
  EXPECT(MPI_Win_unlock(target, in_c) == MPI_SUCCESS);
  return 0;
}

/* A fence that the other half began. */
int c_fence(MPI_Fint win) {
  EXPECT(MPI_Win_fence(0, MPI_Win_f2c(win)) == MPI_SUCCESS);
  return 0;
}

int c_create_keyval(int* keyval) {
  EXPECT(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_fortran_value, keyval, &deletes) == MPI_SUCCESS);
  return 0;
}

int c_expect_attribute(MPI_Fint win, int keyval, MPI_Aint value) {
  MPI_Aint* found;
  int flag;
  EXPECT(MPI_Win_get_attr(MPI_Win_f2c(win), keyval, &found, &flag) == MPI_SUCCESS);
  EXPECT(flag && *found == value);
  return 0;
}

int c_expect_deletes(int expected, MPI_Aint value) {
  EXPECT(deletes == expected && deleted == value);
  return 0;
}

/* The address of a variable: as an integer it is what Fortran reads. */
int c_set_attribute(MPI_Fint win, int keyval, MPI_Aint* address) {
  EXPECT(MPI_Win_set_attr(MPI_Win_f2c(win), keyval, &answer) == MPI_SUCCESS);
  return MPI_Get_address(&answer, address);
}

int c_set_name(MPI_Fint win) {
  EXPECT(MPI_Win_set_name(MPI_Win_f2c(win), "named in C") == MPI_SUCCESS);
  return 0;
}

int c_call_error_handler(MPI_Fint win) {
  EXPECT(MPI_Win_call_errhandler(MPI_Win_f2c(win), MPI_ERR_OTHER) == MPI_SUCCESS);
  return 0;
}

int c_free(MPI_Fint* win) {
  MPI_Win freed = MPI_Win_f2c(*win);
  EXPECT(MPI_Win_free(&freed) == MPI_SUCCESS && freed == MPI_WIN_NULL);
  *win = MPI_Win_c2f(freed);
  return 0;
}
