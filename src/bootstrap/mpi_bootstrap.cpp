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

/// What all groups of a job share: whether Oriel started MPI, and then has to finalise it, when the
/// last group is gone.
class MpiLife {
 public:
  explicit MpiLife(bool ours) noexcept : ours_(ours) {}
  MpiLife(const MpiLife&) = delete;
  MpiLife& operator=(const MpiLife&) = delete;
  // MPI_Finalize waits for all ranks: with one of them dead it would never return.
  ~MpiLife() {
    if (ours_ && usable()) MPI_Finalize();
  }
  void abandon() noexcept { abandoned_ = true; }
  /// A program may finalise MPI before its last Oriel object goes: then there is nothing left to
  /// free.
  [[nodiscard]] bool usable() const noexcept { return !abandoned_ && !finalized(); }

 private:
  bool ours_;
  bool abandoned_ = false;
};

class MpiBootstrap final : public Bootstrap {
 public:
  /// Takes over `owned`.
  MpiBootstrap(MPI_Comm owned, std::shared_ptr<MpiLife> life)
      : life_(std::move(life)), comm_(owned) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  ~MpiBootstrap() override {
    if (life_->usable()) MPI_Comm_free(&comm_);
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

  void barrier() override { check(MPI_Barrier(comm_), "MPI_Barrier"); }

  [[nodiscard]] std::unique_ptr<Bootstrap> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
    return std::make_unique<MpiBootstrap>(part, life_);
  }

  void abandon() noexcept override { life_->abandon(); }

  [[noreturn]] void abort(int status) noexcept override {
    MPI_Abort(comm_, status);
    std::_Exit(status);
  }

 private:
  std::shared_ptr<MpiLife> life_;
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
};

std::unique_ptr<Bootstrap> duplicate(MPI_Comm comm, std::shared_ptr<MpiLife> life) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return std::make_unique<MpiBootstrap>(copy, std::move(life));
}

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
  if (initialized != 0) return duplicate(MPI_COMM_WORLD, std::make_shared<MpiLife>(false));
  if (!started_by_a_launcher()) return std::make_unique<SingleProcess>();
  int provided = 0;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  return duplicate(MPI_COMM_WORLD, std::make_shared<MpiLife>(true));
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
  return duplicate(communicator.handle, std::make_shared<MpiLife>(false));
}

}  // namespace oriel::bootstrap
