#pragma once
/// What MPI hangs on a window besides memory: attributes, error handler, info.
///
/// Keyvals and error handlers are native ones too, under the same number and handle: windows that
/// stay native use them, and what converts handles (MPI_Errhandler_c2f) goes on working. What they
/// call is kept here beside, as MPI does not tell.
/// Threads: any, in all of this. No lock is held while a callback runs.

#include <mpi.h>

#include <list>
#include <memory>
#include <mutex>

namespace oriel::mpi {

class Win;

/// What a keyval of mpi_f08, or of mpif.h, calls when an attribute goes: as
/// MPI_WIN_DELETE_ATTR_FUNCTION.
using FortranDelete = void(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                           MPI_Fint* error);
/// What an error handler of theirs calls: as MPI_WIN_ERRHANDLER_FUNCTION.
using FortranHandler = void(MPI_Fint* win, MPI_Fint* code);

/// Keyvals, from creation until MPI_Win_free_keyval and the end of their last attribute; then the
/// native one is freed.
struct Keyval;

/// @param keyval     just made by PMPI_Win_create_keyval
/// @param on_delete  what that was given
void register_keyval(int keyval, MPI_Win_delete_attr_function* on_delete, void* extra_state);
/// @param keyval  just made by PMPI_WIN_CREATE_KEYVAL
void register_fortran_keyval(int keyval, FortranDelete* on_delete, MPI_Aint extra_state);
/// MPI_Win_free_keyval, but for the variable. False: not registered.
[[nodiscard]] bool free_keyval(int keyval);

/// As C or Fortran set it.
struct AttributeValue {
  void* pointer = nullptr;
  MPI_Aint integer = 0;
  bool is_fortran = false;
};

/// What a program has hung on one window.
class Attributes {
 public:
  /// Sets, replaces after the delete callback of the old value. Errors: Failure MPI_ERR_KEYVAL
  /// (no such keyval, or a predefined one); what the callback returned.
  void set(Win& window, int keyval, void* value);
  void set_fortran(Win& window, int keyval, MPI_Aint value);
  /// Predefined ones too. What Fortran has set C sees as the address of an MPI_Aint, what C has set
  /// Fortran sees as the pointer [MPI-3.1, 17.2.7]. False: not set.
  /// Errors: Failure MPI_ERR_KEYVAL.
  [[nodiscard]] bool get(const Win& window, int keyval, void** value) const;
  [[nodiscard]] bool get_fortran(const Win& window, int keyval, MPI_Aint* value) const;
  /// Calls the delete callback, then forgets. Errors: as set(), and for one that is not set.
  void remove(Win& window, int keyval);
  /// All of them, the last set first (the end of the window). Errors: what a callback returned; its
  /// attribute and those that were set before it stay.
  void clear(Win& window);

 private:
  struct Attribute {
    std::shared_ptr<const Keyval> keyval;
    AttributeValue value;
  };

  void replace(Win& window, int keyval, AttributeValue value);
  /// Null: not set. The mutex is held.
  [[nodiscard]] const Attribute* find(int keyval) const;
  /// The same of its value. Errors: Failure MPI_ERR_KEYVAL (no such keyval).
  [[nodiscard]] const AttributeValue* find_value(int keyval) const;
  /// @param attribute  a copy: the callback may change what is set
  void end(Win& window, Attribute attribute);

  mutable std::mutex mutex_;
  std::list<Attribute> attributes_;  // as they were set; C may hold the address of an integer in it
};

/// @param handler  just made by PMPI_Win_create_errhandler from the same function
void register_error_handler(MPI_Errhandler handler, MPI_Win_errhandler_function* function);
/// @param handler  just made by PMPI_WIN_CREATE_ERRHANDLER
void register_fortran_error_handler(MPI_Errhandler handler, FortranHandler* function);
/// One reference more or less, of the program's or of a window's; with the last one the native
/// handler is freed. False: not registered here.
[[nodiscard]] bool retain_error_handler(MPI_Errhandler handler);
[[nodiscard]] bool release_error_handler(MPI_Errhandler handler);

/// Whether MPI made it, and it is never freed.
[[nodiscard]] bool is_predefined(MPI_Errhandler handler) noexcept;

/// The error handler of a window: one of MPI's own or one that MPI_Win_create_errhandler made.
class ErrorHandler {
 public:
  ErrorHandler() = default;  ///< MPI_ERRORS_ARE_FATAL
  ~ErrorHandler();
  ErrorHandler(const ErrorHandler&) = delete;
  ErrorHandler& operator=(const ErrorHandler&) = delete;
  /// Errors: Failure MPI_ERR_ARG (not one of windows).
  void set(MPI_Errhandler handler);
  /// As MPI_Win_get_errhandler: the caller frees it.
  [[nodiscard]] MPI_Errhandler get() const;
  /// Calls it. MPI_ERRORS_ARE_FATAL says what happened and aborts the job. Returns `code`.
  /// @param text  may be empty
  int call(Win& window, int code, const char* mpi_call, const char* text) const;

 private:
  mutable std::mutex mutex_;
  MPI_Errhandler handler_ = MPI_ERRORS_ARE_FATAL;
};

/// The info of a new window: of the hints given those that MPI has for this flavor of windows, and
/// for the others what holds without them. Who has it frees it.
/// @param given  may be MPI_INFO_NULL
[[nodiscard]] MPI_Info known_hints(MPI_Info given, int flavor);
/// Whether one of these hints was given, and is true.
[[nodiscard]] bool is_true_hint(MPI_Info given, std::string_view key);
/// MPI_Win_set_info: `known`, changed by what is given, and can still be changed.
void change_hints(MPI_Info known, MPI_Info given, int flavor);

}  // namespace oriel::mpi
