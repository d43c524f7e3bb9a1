#pragma once
/// How every MPI_ function of the drop-in is written: the window's own work if the handle is one of
/// ours, MPI's own function otherwise, and no exception to a C or Fortran program.

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <utility>

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

/// Class and text of the exception that is being handled.
[[nodiscard]] std::pair<int, std::string> current_failure();

class Win;

/// The exception that is being handled, as an error class, told to the error handler of the window
/// (of MPI_COMM_WORLD where there is no window). Returns what the MPI_ function returns.
[[nodiscard]] int report_exception(Win* window, const char* call) noexcept;
/// The same of a call that makes a window: told to the error handler of the communicator.
[[nodiscard]] int report_exception(MPI_Comm comm, const char* call) noexcept;

/// Runs `work` as the MPI function `call`.
template <class Work>
[[nodiscard]] int guarded(Win* window, const char* call, Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return MPI_SUCCESS;
  } catch (...) {
    return report_exception(window, call);
  }
}

}  // namespace oriel::mpi
