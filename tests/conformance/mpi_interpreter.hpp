#pragma once
/// The interpreter of programs by MPI's one-sided functions, whoever provides them: MPI itself, or
/// the drop-in in front of it.
///
/// MPI forbids what Oriel does not care about; here a program becomes legal:
/// - An epoch of the program is one of MPI's: flush and notify ones a lock of all ranks. A fence
///   opens what a fence closes, unless the one before has done so.
/// - Notifications are messages, behind a flush.
/// - A window is never locked by one rank and exposed by another: where an epoch on a window is of
///   another kind than the one before, all ranks meet in between.
/// - Plain accesses lie between two calls of MPI_Win_sync within a passive epoch.
/// - What is sent stays as it is until the operation is locally complete.

#include <mpi.h>

#include <optional>

#include "conformance/interpreter.hpp"
#include "conformance/mpi_datatypes.hpp"

namespace oriel::conformance::mpi {

class MpiInterpreter final : public Interpreter {
 public:
  MpiInterpreter(Job& job, const Program& program, Plant plant);
  /// Frees the windows that are left. Collective.
  ~MpiInterpreter() override;

  void create(std::size_t window) override;
  void free(std::size_t window) override;
  void publish(std::size_t window) override;
  /// The datatypes.
  [[nodiscard]] std::string explain(const Epoch& epoch, const Operation& operation) const override;

 private:
  enum class Kind : std::uint8_t { fence, pscw, passive };
  struct Window {
    MPI_Win handle = MPI_WIN_NULL;
    bool is_reversed = false;    ///< its ranks are those of the world from the last to the first
    std::vector<int> units{};    ///< of displacement, by rank of the world
    std::optional<Kind> last{};  ///< what the phase's last epoch was
    bool is_fenced = false;      ///< an epoch may begin without a further fence
  };
  /// What describes an operation's memory at both ends; exists during a call.
  struct Types {
    Datatype element;
    Described from;
    Described into;
    Described to;
  };
  using Requests = std::vector<MPI_Request>;

  // mpi_windows.cpp
  [[nodiscard]] MPI_Comm communicator_of(std::size_t index, Window& window) const;
  void make(std::size_t index, MPI_Comm comm, MPI_Info info);
  void check_attributes(std::size_t index);
  [[nodiscard]] int rank_in(const Window& window, int rank) const noexcept;
  [[nodiscard]] MPI_Aint displacement(const Work& work) const;
  void sync_passively(const Window& window);

  // mpi_operations.cpp
  void call(Work& work) override;
  void move(Work& work, const Types& types);
  void accumulate(Work& work, const Types& types);
  void single(Work& work, MPI_Datatype type);
  void plain(Work& work);
  void notify(const Epoch& epoch, int target, std::size_t slot);
  /// A phase has one epoch of notifications on a window.
  [[nodiscard]] int tag_of(const Epoch& epoch, std::size_t slot) const;
  void complete(Work& work) override;
  [[nodiscard]] Types types_of(const Epoch& epoch, const Operation& operation) const;

  // mpi_requests.cpp
  MPI_Request& request(const Work& work);
  void finish_requests(const Epoch* epoch, std::uint64_t choice) override;
  void finish(const std::vector<Work*>& works, std::uint64_t choice);

  // mpi_epochs.cpp
  void run(const Epoch& epoch) override;
  void settle(const Phase& phase) override;
  void begin(const Epoch& epoch);
  void run_fence(const Epoch& epoch);
  void run_pscw(const Epoch& epoch);
  void run_locks(const Epoch& epoch);
  void run_shared_locks(const Epoch& epoch);
  void run_lock_all(const Epoch& epoch);
  void flush_all_targets(const Epoch& epoch);
  void await_notifications(const Epoch& epoch);
  void start_all(const Epoch& epoch);

  Window& window(const Epoch& epoch) { return windows_[epoch.window]; }
  const Window& window(const Work& work) const { return windows_[work.epoch->window]; }

  std::vector<Window> windows_;
  Requests requests_;                  // by the index of the work
  Requests notifications_;             // sent, and not known to have arrived
  MPI_Comm messages_ = MPI_COMM_NULL;  // notifications, and messages among requests
  void* buffer_ = nullptr;
};

}  // namespace oriel::conformance::mpi
