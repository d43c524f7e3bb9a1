#include "mpi/requests.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mpi/call.hpp"

namespace oriel::mpi {
namespace {

/// What MPI asks about a generalised request when it has ended.
struct Outcome {
  int error = MPI_SUCCESS;
};

extern "C" int query(void* outcome, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Outcome*>(outcome)->error;
}
extern "C" int forget(void* outcome) {
  delete static_cast<Outcome*>(outcome);
  return MPI_SUCCESS;
}
extern "C" int cancel(void*, int) {
  return MPI_SUCCESS;  // MPI does not let them be cancelled
}

struct Operation {
  Win* window;
  std::vector<Request> parts;
  Outcome* outcome;  // MPI's, until the request ends
};

/// The operations whose requests are not complete. Whoever works on one takes it out.
class Outstanding {
 public:
  void add(MPI_Request request, Operation operation) {
    const std::scoped_lock lock(mutex_);
    operations_.emplace(request, std::move(operation));
    count_.store(operations_.size(), std::memory_order_relaxed);
  }
  [[nodiscard]] std::optional<Operation> take(MPI_Request request) {
    const std::scoped_lock lock(mutex_);
    auto node = operations_.extract(request);
    count_.store(operations_.size(), std::memory_order_relaxed);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }
  [[nodiscard]] std::vector<MPI_Request> of(const Win& window) {
    const std::scoped_lock lock(mutex_);
    std::vector<MPI_Request> all;
    for (const auto& [request, operation] : operations_)
      if (operation.window == &window) all.push_back(request);
    return all;
  }
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

 private:
  std::mutex mutex_;
  std::unordered_map<MPI_Request, Operation> operations_;
  std::atomic<std::size_t> count_{0};
};

Outstanding& outstanding() noexcept {
  static auto* const instance = new Outstanding;  // MPI may ask until the process ends
  return *instance;
}

/// Whether all parts have ended, those that were found to be done among them. An error is the
/// request's: MPI_Wait and its like return it.
bool have_ended(Operation& operation, bool waits) noexcept {
  try {
    while (!operation.parts.empty()) {
      Request& last = operation.parts.back();
      if (waits)
        last.wait();
      else if (!last.test())
        return false;
      operation.parts.pop_back();
    }
  } catch (...) {
    operation.parts.clear();
    operation.outcome->error = report_exception(operation.window, "MPI_Wait");
  }
  return true;
}

void work_on(std::span<const MPI_Request> requests, bool waits) noexcept {
  for (const MPI_Request request : requests) {
    auto operation = outstanding().take(request);
    if (!operation) continue;
    if (have_ended(*operation, waits))
      PMPI_Grequest_complete(request);
    else
      outstanding().add(request, std::move(*operation));
  }
}

}  // namespace

MPI_Request make_request(Win& window, std::vector<Request> parts) {
  MPI_Request request = MPI_REQUEST_NULL;
  auto outcome = std::make_unique<Outcome>();
  Operation operation{&window, std::move(parts), outcome.get()};
  check(PMPI_Grequest_start(query, forget, cancel, outcome.get(), &request), "MPI_Grequest_start");
  outcome.release();
  if (have_ended(operation, false))
    PMPI_Grequest_complete(request);
  else
    outstanding().add(request, std::move(operation));
  return request;
}

bool any_ours() noexcept {
  return outstanding().any();
}
void complete_ours(std::span<const MPI_Request> requests) noexcept {
  work_on(requests, true);
}
void progress_ours(std::span<const MPI_Request> requests) noexcept {
  work_on(requests, false);
}
void complete_all(Win& window) noexcept {
  if (any_ours()) work_on(outstanding().of(window), true);
}

}  // namespace oriel::mpi
