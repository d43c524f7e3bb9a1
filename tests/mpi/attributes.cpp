// Attributes of windows: keyvals, copy and delete callbacks, their order and their failures
// [MPI-3.1, 6.7.3].

#include <algorithm>

#include "support.hpp"

namespace {

struct Record {
  std::vector<long> deleted;  // values, in order
  std::vector<MPI_Win> windows;
  std::vector<int> keyvals;
  int copied = 0;
  long failing = -1;  // the value whose deletion fails
  int error = MPI_ERR_OTHER;
} record;

int copy(MPI_Win, int, void*, void*, void*, int* flag) {
  ++record.copied;
  *flag = 0;
  return MPI_SUCCESS;
}

int extra = 11;

int forget(MPI_Win win, int keyval, void* value, void* state) {
  CHECK(state == &extra);
  const auto number = static_cast<long>(reinterpret_cast<std::intptr_t>(value));
  if (number == record.failing) return record.error;
  record.deleted.push_back(number);
  record.windows.push_back(win);
  record.keyvals.push_back(keyval);
  return MPI_SUCCESS;
}

void* as_value(std::intptr_t number) {
  return reinterpret_cast<void*>(number);
}

MPI_Win make_window() {
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  return win;
}

int make_keyval() {
  int keyval = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Win_create_keyval(copy, forget, &keyval, &extra));
  CHECK(keyval != MPI_KEYVAL_INVALID);
  return keyval;
}

void check_value(MPI_Win win, int keyval, std::intptr_t expected) {
  void* found = nullptr;
  int flag = 0;
  CHECK_OK(MPI_Win_get_attr(win, keyval, &found, &flag));
  if (CHECK(flag != 0)) CHECK_INT(expected, reinterpret_cast<std::intptr_t>(found));
}

void check_absent(MPI_Win win, int keyval) {
  void* found = nullptr;
  int flag = 1;
  CHECK_OK(MPI_Win_get_attr(win, keyval, &found, &flag));
  CHECK_INT(0, flag);
}

void set_get_delete() {
  record = {};
  MPI_Win win = make_window();
  const int keyval = make_keyval();
  int freed = keyval;
  check_absent(win, keyval);
  CHECK_OK(MPI_Win_set_attr(win, keyval, as_value(1)));
  check_value(win, keyval, 1);
  // Another value: the old one is deleted first.
  CHECK_OK(MPI_Win_set_attr(win, keyval, as_value(2)));
  check_value(win, keyval, 2);
  if (CHECK_INT(1, record.deleted.size())) {
    CHECK_INT(1, record.deleted[0]);
    CHECK(record.windows[0] == win);
    CHECK_INT(keyval, record.keyvals[0]);
  }
  CHECK_OK(MPI_Win_delete_attr(win, keyval));
  check_absent(win, keyval);
  if (CHECK_INT(2, record.deleted.size())) CHECK_INT(2, record.deleted[1]);
  // A null pointer is a value as others are.
  CHECK_OK(MPI_Win_set_attr(win, keyval, nullptr));
  check_value(win, keyval, 0);
  CHECK_OK(MPI_Win_free_keyval(&freed));
  CHECK_INT(MPI_KEYVAL_INVALID, freed);
  CHECK_OK(MPI_Win_free(&win));
  if (CHECK_INT(3, record.deleted.size())) CHECK_INT(0, record.deleted[2]);
  CHECK_INT(0, record.copied);  // no window is ever copied
}

/// At the end of a window each attribute's callback is called once, in any order but with the
/// window still there; keyvals freed before it work to the end.
void at_the_end() {
  record = {};
  MPI_Win win = make_window();
  MPI_Win other = make_window();
  std::array<int, 5> keyvals{};
  for (std::size_t i = 0; i < keyvals.size(); ++i) {
    keyvals[i] = make_keyval();
    CHECK_OK(MPI_Win_set_attr(win, keyvals[i], as_value(static_cast<std::intptr_t>(10 + i))));
    CHECK_OK(MPI_Win_set_attr(other, keyvals[i], as_value(static_cast<std::intptr_t>(20 + i))));
  }
  for (int keyval : keyvals) CHECK_OK(MPI_Win_free_keyval(&keyval));
  for (std::size_t i = 0; i < keyvals.size(); ++i)
    check_value(win, keyvals[i], static_cast<std::intptr_t>(10 + i));
  CHECK_OK(MPI_Win_free(&win));
  if (CHECK_INT(keyvals.size(), record.deleted.size())) {
    long sum = 0;
    for (const long value : record.deleted) sum += value;
    CHECK_INT(10 + 11 + 12 + 13 + 14, sum);
  }
  for (std::size_t i = 0; i < keyvals.size(); ++i)
    check_value(other, keyvals[i], static_cast<std::intptr_t>(20 + i));
  CHECK_OK(MPI_Win_free(&other));
  CHECK_INT(2 * keyvals.size(), record.deleted.size());
}

/// A callback that fails: the call fails, and the attribute stays.
void failing_callback() {
  record = {};
  MPI_Win win = make_window();
  int keyval = make_keyval();
  CHECK_OK(MPI_Win_set_attr(win, keyval, as_value(5)));
  record.failing = 5;
  CHECK(MPI_Win_delete_attr(win, keyval) != MPI_SUCCESS);
  check_value(win, keyval, 5);
  CHECK(MPI_Win_set_attr(win, keyval, as_value(6)) != MPI_SUCCESS);
  CHECK_INT(0, record.deleted.size());
  record.failing = -1;
  CHECK_OK(MPI_Win_delete_attr(win, keyval));
  check_absent(win, keyval);
  CHECK_OK(MPI_Win_free_keyval(&keyval));
  CHECK_OK(MPI_Win_free(&win));
}

struct Heard {
  int calls = 0;
  int code = MPI_SUCCESS;
  MPI_Win win = MPI_WIN_NULL;
} heard;

void hear(MPI_Win* win, int* code, ...) {
  ++heard.calls;
  heard.code = *code;
  heard.win = *win;
}

/// A callback that fails, with a code of the program's own, when its window ends: the call fails
/// with that code, and nothing but the attributes that were deleted before has gone. The window
/// serves, and ends when the callback lets it; each value is deleted once.
void failing_at_the_end() {
  record = {};
  heard = {};
  MPI_Add_error_code(MPI_ERR_OTHER, &record.error);
  long* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  CHECK_OK(
      MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  CHECK_OK(MPI_Win_create_errhandler(hear, &handler));
  CHECK_OK(MPI_Win_set_errhandler(win, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  std::array<int, 3> keyvals{};
  for (std::size_t i = 0; i < keyvals.size(); ++i) {
    keyvals[i] = make_keyval();
    CHECK_OK(MPI_Win_set_attr(win, keyvals[i], as_value(static_cast<std::intptr_t>(30 + i))));
  }
  MPI_Win const same = win;
  record.failing = 31;
  for (int attempt = 1; attempt <= 2; ++attempt) {
    CHECK_INT(record.error, MPI_Win_free(&win));
    CHECK(win == same);
    CHECK_INT(attempt, heard.calls);
    CHECK_INT(record.error, heard.code);
    CHECK(heard.win == same);
    check_value(win, keyvals[1], 31);
  }
  const long value = 100 + test.rank;
  *base = -1;
  in_epoch(Epoch::fence, win, 0,
           [&] { CHECK_OK(MPI_Put(&value, 1, MPI_LONG, right_rank(), 0, 1, MPI_LONG, win)); });
  CHECK_INT(100 + left_rank(), *base);
  for (int& keyval : keyvals) CHECK_OK(MPI_Win_free_keyval(&keyval));
  record.failing = -1;
  CHECK_OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
  CHECK_INT(2, heard.calls);
  std::sort(record.deleted.begin(), record.deleted.end());
  CHECK(record.deleted == (std::vector<long>{30, 31, 32}));
}

/// While the callbacks of a window's end run, all of the window is still there: its memory, its
/// group, its name, operations on it, and attributes that were set before.
void the_window_in_a_callback() {
  static int seen = 0;
  static long* base = nullptr;
  seen = 0;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(
      MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Win_set_name(win, "ends"));
  *base = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  int keyval = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Win_create_keyval(
      MPI_WIN_NULL_COPY_FN,
      [](MPI_Win of, int, void*, void*) {
        ++seen;
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        CHECK_OK(MPI_Win_get_name(of, name, &length));
        CHECK(strcmp(name, "ends") == 0);
        void* memory = nullptr;
        int flag = 0;
        CHECK_OK(MPI_Win_get_attr(of, MPI_WIN_BASE, &memory, &flag));
        CHECK(flag != 0 && memory == base);
        MPI_Group group = MPI_GROUP_NULL;
        CHECK_OK(MPI_Win_get_group(of, &group));
        CHECK_OK(MPI_Group_free(&group));
        const long value = 7 + test.rank;
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, of));
        CHECK_OK(MPI_Put(&value, 1, MPI_LONG, right_rank(), 0, 1, MPI_LONG, of));
        CHECK_OK(MPI_Win_unlock(right_rank(), of));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_INT(7 + left_rank(), *base);
        return MPI_SUCCESS;
      },
      &keyval, nullptr));
  CHECK_OK(MPI_Win_set_attr(win, keyval, nullptr));
  CHECK_OK(MPI_Win_free_keyval(&keyval));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_INT(1, seen);
}

/// The callbacks of MPI's own that do nothing.
void null_callbacks() {
  MPI_Win win = make_window();
  int keyval = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr));
  CHECK_OK(MPI_Win_set_attr(win, keyval, as_value(9)));
  check_value(win, keyval, 9);
  CHECK_OK(MPI_Win_delete_attr(win, keyval));
  CHECK_OK(MPI_Win_free_keyval(&keyval));
  CHECK_OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &keyval, nullptr));
  CHECK_OK(MPI_Win_set_attr(win, keyval, as_value(8)));
  check_value(win, keyval, 8);
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Win_free_keyval(&keyval));
}

void refused() {
  MPI_Win win = make_window();
  // What MPI says of the window is not the program's to change.
  for (const int keyval :
       {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL}) {
    CHECK(MPI_Win_set_attr(win, keyval, as_value(1)) != MPI_SUCCESS);
    CHECK(MPI_Win_delete_attr(win, keyval) != MPI_SUCCESS);
  }
  void* found = nullptr;
  int flag = 0;
  CHECK_CLASS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_KEYVAL_INVALID, as_value(1)));
  CHECK_CLASS(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &found, &flag));
  CHECK_CLASS(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, MPI_KEYVAL_INVALID));
  CHECK_OK(MPI_Win_free(&win));
}

/// A program's own windows, found again by what it hung on them.
void from_within_a_callback() {
  record = {};
  MPI_Win win = make_window();
  static int second = make_keyval();
  int first = MPI_KEYVAL_INVALID;
  CHECK_OK(MPI_Win_create_keyval(
      MPI_WIN_NULL_COPY_FN,
      [](MPI_Win of, int, void*, void*) {
        void* value = nullptr;
        int flag = 0;
        return MPI_Win_get_attr(of, second, &value, &flag);
      },
      &first, nullptr));
  CHECK_OK(MPI_Win_set_attr(win, second, as_value(3)));
  CHECK_OK(MPI_Win_set_attr(win, first, as_value(4)));
  CHECK_OK(MPI_Win_delete_attr(win, first));
  CHECK_OK(MPI_Win_set_attr(win, first, as_value(4)));
  CHECK_OK(MPI_Win_free_keyval(&first));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_INT(1, record.deleted.size());
  CHECK_OK(MPI_Win_free_keyval(&second));
}

/// Callbacks that free their keyval, and that delete another attribute, as the window ends.
void callbacks_that_change() {
  static int calls = 0;
  static std::array<int, 3> keyvals{};
  calls = 0;
  const auto on_delete = [](MPI_Win of, int keyval, void*, void*) {
    ++calls;
    if (keyval == keyvals[0]) return MPI_Win_free_keyval(&keyvals[0]);
    return keyval == keyvals[2] ? MPI_Win_delete_attr(of, keyvals[1]) : MPI_SUCCESS;
  };
  MPI_Win win = make_window();
  for (int& keyval : keyvals) {
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, nullptr));
    CHECK_OK(MPI_Win_set_attr(win, keyval, nullptr));
  }
  CHECK_OK(MPI_Win_free(&win));
  CHECK_INT(3, calls);
  CHECK_INT(MPI_KEYVAL_INVALID, keyvals[0]);
  CHECK_OK(MPI_Win_free_keyval(&keyvals[1]));
  CHECK_OK(MPI_Win_free_keyval(&keyvals[2]));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_attributes", &argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_section("set, get, delete");
  set_get_delete();
  test_section("the end of a window");
  at_the_end();
  test_section("a callback that fails");
  failing_callback();
  test_section("a callback that fails at the end of a window");
  failing_at_the_end();
  test_section("the window in a callback of its end");
  the_window_in_a_callback();
  test_section("callbacks of MPI's own");
  null_callbacks();
  test_section("keyvals that are refused");
  refused();
  test_section("attributes within a callback");
  from_within_a_callback();
  test_section("callbacks that change what is set");
  callbacks_that_change();
  return test_end();
}
