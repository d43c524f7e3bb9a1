#include "bootstrap/mpi_bootstrap.hpp"

#include <oriel/mpi.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "bootstrap/single_process.hpp"

namespace oriel::bootstrap {
namespace {

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  base::throw_error(
      ErrorCode::internal,
      {.operation = call, .problem = std::string(text.data(), static_cast<std::size_t>(length))});
}

bool finalized() {
  int yes = 0;
  MPI_Finalized(&yes);
  return yes != 0;
}

/// The ranks of a communicator of its own. If Oriel started MPI, it finalises it in the end.
class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(MPI_Comm comm, bool mpi_is_ours) : mpi_is_ours_(mpi_is_ours) {
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  // A program may finalise MPI before its Runtime goes: then there is nothing left to free. And
  // MPI_Finalize waits for all ranks: with one of them dead it would never return.
  ~MpiBootstrap() override {
    if (abandoned_ || finalized()) return;
    MPI_Comm_free(&comm_);
    if (mpi_is_ours_) MPI_Finalize();
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  [[nodiscard]] std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size_));
    const auto bytes = static_cast<int>(mine.size());
    check(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_),
          "MPI_Allgather");
    return all;
  }

  void abandon() noexcept override { abandoned_ = true; }

 private:
  bool mpi_is_ours_;
  bool abandoned_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// The variables by which the launchers of Open MPI, MPICH's Hydra, PMIx and Slurm make themselves
// known to a rank.
bool started_by_a_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Bootstrap> meet_through_mpi(int& argc, char**& argv) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (finalized()) {
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = "Runtime",
                       .problem = "MPI is already finalised",
                       .hint = "start the Runtime before MPI_Finalize"});
  }
  if (initialized != 0) return std::make_unique<MpiBootstrap>(MPI_COMM_WORLD, false);
  if (!started_by_a_launcher()) return std::make_unique<SingleProcess>();
  int provided = 0;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  return std::make_unique<MpiBootstrap>(MPI_COMM_WORLD, true);
}

std::unique_ptr<Bootstrap> meet_through(const Communicator& communicator) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0 || finalized() || communicator.handle == MPI_COMM_NULL) {
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = "Runtime",
                       .problem = communicator.handle == MPI_COMM_NULL && initialized != 0
                                      ? "the communicator is MPI_COMM_NULL"
                                      : "MPI is not running",
                       .hint = "call MPI_Init first, or use Runtime(argc, argv)"});
  }
  return std::make_unique<MpiBootstrap>(communicator.handle, false);
}

}  // namespace oriel::bootstrap
