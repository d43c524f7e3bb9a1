#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "mpi/call.hpp"
#include "mpi/objects.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

using Function = std::function<void(Win&, int code, const char* text)>;

/// The program's own error handlers of windows. Of each native handle one reference is held here,
/// for all that are counted here.
class Handlers {
 public:
  static Handlers& all() noexcept {
    static auto* const instance = new Handlers;  // windows may be alive when statics end
    return *instance;
  }
  void add(MPI_Errhandler handler, Function function) {
    const std::scoped_lock lock(mutex_);
    handlers_.insert_or_assign(handler, Entry{std::move(function), 1});
  }
  bool retain(MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex_);
    const auto found = handlers_.find(handler);
    if (found == handlers_.end()) return false;
    ++found->second.references;
    return true;
  }
  bool release(MPI_Errhandler handler) {
    std::unique_lock lock(mutex_);
    const auto found = handlers_.find(handler);
    if (found == handlers_.end()) return false;
    if (--found->second.references > 0) return true;
    handlers_.erase(found);
    lock.unlock();
    int is_over = 0;
    PMPI_Finalized(&is_over);
    if (is_over == 0) PMPI_Errhandler_free(&handler);
    return true;
  }
  Function find(MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex_);
    return handlers_.at(handler).function;
  }

 private:
  struct Entry {
    Function function;
    std::size_t references;
  };
  std::mutex mutex_;
  std::map<MPI_Errhandler, Entry> handlers_;
};

/// Where an error happened, for people.
struct Place {
  std::string_view kind;
  std::string name;
  int rank;
  int size;
};

Place place_of(const Win& window) {
  return {"window", window.name, window.rank(), window.size()};
}

Place place_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Comm_get_name(comm, name.data(), &length);
  Place place{"communicator", name.data(), 0, 0};
  PMPI_Comm_rank(comm, &place.rank);
  PMPI_Comm_size(comm, &place.size);
  return place;
}

std::string describe(const Place& place, std::string_view call, int code, std::string_view text) {
  return fmt::format("{} on {} \"{}\", rank {} of {}: {}{}{}", call, place.kind, place.name,
                     place.rank, place.size, text, text.empty() ? "" : ": ", code_text(code));
}

/// Not to the log, which may be off: a job that ends has to say why.
void say_last_words(const Place& place, std::string_view description) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string words = fmt::format(
      "oriel: [rank {0}] {1}\n"
      "oriel: [rank {0}] The {2}'s error handler is MPI_ERRORS_ARE_FATAL: the job ends.\n",
      rank, description, place.kind);
  std::fwrite(words.data(), 1, words.size(), stderr);  // whole, among the words of other ranks
}

void tell(MPI_Comm comm, const char* call, int code, std::string_view text) {
  const Place place = place_of(comm);
  const std::string description = describe(place, call, code, text);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  check(PMPI_Comm_get_errhandler(comm, &handler), "MPI_Comm_get_errhandler");
  if (handler == MPI_ERRORS_ARE_FATAL) {
    say_last_words(place, description);
  } else {
    base::log(base::LogLevel::debug, "{}", description);
  }
  PMPI_Errhandler_free(&handler);
}

}  // namespace

void register_error_handler(MPI_Errhandler handler, MPI_Win_errhandler_function* function) {
  Handlers::all().add(handler, [=](Win& window, int code, const char* text) {
    MPI_Win handle = window.handle();
    function(&handle, &code, text, nullptr);
  });
}

void register_fortran_error_handler(MPI_Errhandler handler, FortranHandler* function) {
  Handlers::all().add(handler, [=](Win& window, int code, const char* /*text*/) {
    MPI_Fint handle = window.fortran();
    MPI_Fint its_code = code;
    function(&handle, &its_code);
  });
}

bool retain_error_handler(MPI_Errhandler handler) {
  return Handlers::all().retain(handler);
}

bool release_error_handler(MPI_Errhandler handler) {
  return Handlers::all().release(handler);
}

bool is_predefined(MPI_Errhandler handler) noexcept {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
}

ErrorHandler::~ErrorHandler() {
  if (!is_predefined(handler_)) (void)release_error_handler(handler_);
}

void ErrorHandler::set(MPI_Errhandler handler) {
  if (!is_predefined(handler) && !retain_error_handler(handler))
    fail(MPI_ERR_ARG, "not an error handler that MPI_Win_create_errhandler made");
  std::unique_lock lock(mutex_);
  const MPI_Errhandler old = std::exchange(handler_, handler);
  lock.unlock();
  if (!is_predefined(old)) (void)release_error_handler(old);
}

MPI_Errhandler ErrorHandler::get() const {
  const std::scoped_lock lock(mutex_);
  if (!is_predefined(handler_)) (void)retain_error_handler(handler_);
  return handler_;
}

int ErrorHandler::call(Win& window, int code, const char* mpi_call, const char* text) const {
  const std::string description = describe(place_of(window), mpi_call, code, text);
  base::log(base::LogLevel::debug, "{}", description);
  std::unique_lock lock(mutex_);
  const MPI_Errhandler handler = handler_;
  const Function function = is_predefined(handler) ? Function() : Handlers::all().find(handler);
  lock.unlock();
  if (handler == MPI_ERRORS_ARE_FATAL) {
    say_last_words(place_of(window), description);
    PMPI_Abort(MPI_COMM_WORLD, code);
  } else if (function) {
    function(window, code, description.c_str());  // which may set another handler
  }
  return code;
}

int report_exception(Win* window, const char* call) {
  if (window == nullptr) return report_exception(MPI_COMM_WORLD, call);
  const auto [code, text] = current_failure();
  return window->errors.call(*window, code, call, text.c_str());
}

int report_exception(MPI_Comm comm, const char* call) {
  const auto [code, text] = current_failure();
  const MPI_Comm told = comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm;
  tell(told, call, code, text);
  PMPI_Comm_call_errhandler(told, code);
  return code;
}

}  // namespace oriel::mpi
