#pragma once
/// The runtime: one per process, alive from before the first window to after the last.

#include <memory>
#include <string>

#include <oriel/export.hpp>
#include <oriel/team.hpp>

namespace oriel {

namespace runtime {
class RuntimeState;
}

/// Wraps an MPI communicator; defined in <oriel/mpi.hpp>, so that only programs that have MPI see
/// <mpi.h>.
struct Communicator;

/// Starts Oriel in this process and stops it in the destructor.
///
/// With mpirun, the ranks of the job meet through MPI once and exchange addresses; without it, the
/// job is one rank. Options come from ORIEL_* variables (README, "Environment variables"). Destroy
/// requests, lock guards and buffers before the runtime.
class ORIEL_API Runtime {
 public:
  /// Collective over the job: starts MPI if nobody has (and then also finalises it), and meets the
  /// other ranks [MPI_Init].
  ///
  /// Completion: on return every rank of the job has started.
  /// Errors: invalid_option, version_mismatch, option_mismatch, no_device, locked_memory_limit;
  /// thrown on every rank. Threads: start-stop-only. Cost: one allgather of about 1 KiB a rank;
  /// opens an RDMA device only when a peer or ORIEL_FABRIC needs it.
  Runtime(int& argc, char**& argv);

  /// Collective over `communicator`, which is duplicated: the job is its ranks. MPI must be
  /// initialised, and is not finalised.
  explicit Runtime(const Communicator& communicator);

  /// For tests and other launchers: a runtime on ready-made state.
  explicit Runtime(std::unique_ptr<runtime::RuntimeState> state) noexcept;

  /// Collective. Frees the windows that are still alive, in the order of their creation: calls on
  /// them throw window_freed afterwards. Waits for the other ranks unless one has died, then
  /// releases everything; logs errors, never throws.
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// All ranks of the job. Threads: any.
  [[nodiscard]] const Team& world() const noexcept;
  /// The ranks of the job that share this rank's machine (as ORIEL_FAKE_NODES sees it). Threads:
  /// any.
  [[nodiscard]] const Team& node() const noexcept;
  /// A readable account of what was chosen and why: host, placement, device, path to every peer.
  /// Threads: any.
  [[nodiscard]] std::string describe() const;
  /// From now on whoever waits in Oriel for more than an instant calls `beside` again and again:
  /// what else must go on in this process meanwhile, as the program's other messages. It must not
  /// call Oriel, nor throw. Threads: start-stop-only; `beside` is called by any that waits.
  void while_waiting(void (*beside)()) noexcept;
  /// [implementation] what windows and buffers hold on to.
  [[nodiscard]] runtime::RuntimeState& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<runtime::RuntimeState> state_;
};

}  // namespace oriel
