#pragma once
/// How every MPI_ function of the drop-in is written: the window's own work if the handle is one of
/// ours, MPI's own function otherwise, and no exception to a C or Fortran program but what its own
/// error handler throws.

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <oriel/error.hpp>

namespace oriel::mpi {

/// A call that fails: an error class of MPI, and a text for whoever reads the log.
class Failure : public std::runtime_error {
 public:
  Failure(int error_class, const std::string& text)
      : std::runtime_error(text), error_class_(error_class) {}
  [[nodiscard]] int error_class() const noexcept { return error_class_; }

 private:
  int error_class_;
};

[[noreturn]] void fail(int error_class, std::string text);

/// fail() unless a PMPI_ function succeeded. @param call  its name
void check(int status, const char* call);

/// What MPI_Error_string says, or the number of a code that nobody has made.
[[nodiscard]] std::string code_text(int code);

/// Class and text of the exception that is being handled.
[[nodiscard]] std::pair<int, std::string> current_failure();

/// An error of Oriel's by its number. A std::error_code is compared by the address of its category
/// too, and the drop-in has another one than liboriel.so: both contain what makes errors.
[[nodiscard]] inline ErrorCode code_of(const Error& error) noexcept {
  return static_cast<ErrorCode>(error.code().value());
}

/// The ranks of a group's processes in another group, in their order: MPI_UNDEFINED for those that
/// are not in it. Errors: Failure.
[[nodiscard]] std::vector<int> translated_ranks(MPI_Group from, MPI_Group to);

class Win;

/// The exception that is being handled, as an error class, told to the error handler of the window
/// (of MPI_COMM_WORLD where there is no window). Returns what the MPI_ function returns.
[[nodiscard]] int report_exception(Win* window, const char* call);
/// The same of a call that makes a window: told to the error handler of the communicator.
[[nodiscard]] int report_exception(MPI_Comm comm, const char* call);

/// Runs `work` as the MPI function `call`.
/// @param object  the window or communicator whose error handler hears of errors
template <class Object, class Work>
[[nodiscard]] int guarded(Object object, const char* call, Work&& work) {
  try {
    std::forward<Work>(work)();
    return MPI_SUCCESS;
  } catch (...) {
    return report_exception(object, call);
  }
}

}  // namespace oriel::mpi
