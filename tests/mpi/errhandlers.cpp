// Error handlers of windows [MPI-3.1, 8.3.2]: made, set, asked for, called, freed while set.

#include "support.hpp"

namespace {

struct Calls {
  int first = 0;
  int second = 0;
  int code = MPI_SUCCESS;
  MPI_Win win = MPI_WIN_NULL;
} calls;

void first_handler(MPI_Win* win, int* code, ...) {
  ++calls.first;
  calls.win = *win;
  calls.code = *code;
}

void second_handler(MPI_Win*, int* code, ...) {
  ++calls.second;
  calls.code = *code;
}

MPI_Win make_window() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  return win;
}

void check_handler(MPI_Win win, MPI_Errhandler expected) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Win_get_errhandler(win, &found));
  CHECK(found == expected);
  CHECK_OK(MPI_Errhandler_free(&found));
  CHECK(found == MPI_ERRHANDLER_NULL);
}

void predefined() {
  MPI_Win win = make_window();
  check_handler(win, MPI_ERRORS_ARE_FATAL);
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  check_handler(win, MPI_ERRORS_RETURN);
  check_handler(win, MPI_ERRORS_RETURN);
  int value = 0;
  CHECK_CLASS(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_INT, test.ranks, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
  check_handler(win, MPI_ERRORS_ARE_FATAL);
  CHECK_OK(MPI_Win_free(&win));
}

void own() {
  calls = {};
  MPI_Win win = make_window();
  MPI_Errhandler first = MPI_ERRHANDLER_NULL;
  MPI_Errhandler second = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Win_create_errhandler(first_handler, &first));
  CHECK_OK(MPI_Win_create_errhandler(second_handler, &second));
  CHECK_OK(MPI_Win_set_errhandler(win, first));
  check_handler(win, first);
  // An error: the handler gets the window and the code, which the call then returns.
  int value = 0;
  const int code = MPI_Put(&value, 1, MPI_INT, -5, 0, 1, MPI_INT, win);
  CHECK_CLASS(MPI_ERR_RANK, code);
  CHECK_INT(1, calls.first);
  CHECK_INT(code, calls.code);
  CHECK(calls.win == win);
  // Called by the program, with any class.
  CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
  CHECK_INT(2, calls.first);
  CHECK_INT(MPI_ERR_RMA_RANGE, calls.code);
  // Replaced.
  CHECK_OK(MPI_Win_set_errhandler(win, second));
  CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
  CHECK_INT(2, calls.first);
  CHECK_INT(1, calls.second);
  // Freed while set: "will be deallocated after all objects associated with it" are.
  CHECK_OK(MPI_Errhandler_free(&second));
  CHECK(second == MPI_ERRHANDLER_NULL);
  CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
  CHECK_INT(2, calls.second);
  MPI_Errhandler again = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Win_get_errhandler(win, &again));
  MPI_Win other = make_window();
  CHECK_OK(MPI_Win_set_errhandler(other, again));
  CHECK_OK(MPI_Errhandler_free(&again));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(other));
  CHECK_INT(3, calls.second);
  CHECK_OK(MPI_Win_free(&other));
  CHECK_OK(MPI_Errhandler_free(&first));
}

/// Classes and codes that the program added are passed as they are.
void added_codes() {
  calls = {};
  int error_class = 0;
  int code = 0;
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &code);
  MPI_Win win = make_window();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Win_create_errhandler(first_handler, &handler));
  CHECK_OK(MPI_Win_set_errhandler(win, handler));
  CHECK_OK(MPI_Win_call_errhandler(win, code));
  CHECK_INT(code, calls.code);
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Win_free(&win));
}

/// A window's handler is its own: neither the communicator's nor another window's.
void independent() {
  calls = {};
  MPI_Win one = make_window();
  MPI_Win two = make_window();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Win_create_errhandler(first_handler, &handler));
  CHECK_OK(MPI_Win_set_errhandler(one, handler));
  CHECK_OK(MPI_Win_set_errhandler(two, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, two));
  CHECK_INT(0, calls.first);
  CHECK_CLASS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, one));
  CHECK_INT(1, calls.first);
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Win_free(&one));
  CHECK_OK(MPI_Win_free(&two));
}

/// Errors of calls that have no window yet go to the communicator's.
void of_the_communicator() {
  MPI_Win win = MPI_WIN_NULL;
  int value = 0;
  CHECK_CLASS(MPI_ERR_DISP,
              MPI_Win_create(&value, sizeof(value), 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_CLASS(MPI_ERR_SIZE, MPI_Win_create(&value, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

void comm_handler(MPI_Comm*, int*, ...) {}

void of_other_kinds() {
  MPI_Errhandler of_comm = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(comm_handler, &of_comm);
  MPI_Win win = make_window();
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK(MPI_Win_set_errhandler(win, of_comm) != MPI_SUCCESS);
  CHECK(MPI_Win_set_errhandler(win, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
  check_handler(win, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Win_free(&win));
  MPI_Errhandler_free(&of_comm);
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_errhandlers", &argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_section("predefined handlers");
  predefined();
  test_section("handlers of one's own");
  own();
  test_section("codes that were added");
  added_codes();
  test_section("handlers of several windows");
  independent();
  test_section("errors without a window");
  of_the_communicator();
  test_section("handlers of other kinds");
  of_other_kinds();
  return test_end();
}
