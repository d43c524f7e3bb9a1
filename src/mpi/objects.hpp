#pragma once
/// What MPI hangs on a window besides memory: name, attributes, error handler, info.

#include <mpi.h>

#include <cstddef>
#include <map>
#include <string>

namespace oriel::mpi {

class Win;

/// A keyval of windows, as MPI_Win_create_keyval or its Fortran form was told. Windows of Oriel's
/// keep their attributes themselves; the native keyval exists for windows that stay native.
class Attributes {
 public:
  /// Sets, replaces after the delete callback of the old value. Errors: Failure MPI_ERR_KEYVAL
  /// (no such keyval, or a predefined one); what the callback returned.
  void set(Win& window, int keyval, void* value);
  [[nodiscard]] bool get(int keyval, void** value) const;
  /// Calls the delete callback, then forgets. Errors: as set().
  void remove(Win& window, int keyval);
  /// All of them, the last set first (the end of the window). Errors: what a callback returned; its
  /// attribute and those behind it stay.
  void clear(Win& window);

 private:
  struct Value {
    void* value = nullptr;
    std::size_t order = 0;
  };
  std::map<int, Value> values_;
  std::size_t next_ = 0;
};

/// The error handler of a window: one of MPI's own or one that MPI_Win_create_errhandler made.
class ErrorHandler {
 public:
  ErrorHandler();  ///< MPI_ERRORS_ARE_FATAL
  ~ErrorHandler();
  ErrorHandler(const ErrorHandler&) = delete;
  ErrorHandler& operator=(const ErrorHandler&) = delete;
  void set(MPI_Errhandler handler);
  /// As MPI_Win_get_errhandler: the caller frees it.
  [[nodiscard]] MPI_Errhandler get() const;
  /// Calls it. MPI_ERRORS_ARE_FATAL says what happened and aborts the job. Returns `code`.
  int call(Win& window, int code, const char* function, const char* text) const noexcept;

 private:
  MPI_Errhandler handler_ = MPI_ERRORS_ARE_FATAL;
};

}  // namespace oriel::mpi
