#pragma once
/// The drop-in's part of a process: Oriel's runtime beside MPI's, from MPI_Init to MPI_Finalize.

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <oriel/buffer.hpp>
#include <oriel/team.hpp>

namespace oriel::mpi {

/// Collective over MPI_COMM_WORLD: starts Oriel, right after MPI_Init or MPI_Init_thread has
/// returned. It ends when MPI_Finalize deletes the attributes of MPI_COMM_SELF, behind all that the
/// program has hung there. Where Oriel cannot start, it says why, and MPI keeps its windows.
void start() noexcept;

/// Whether windows can be made by Oriel. Threads: any.
[[nodiscard]] bool is_running() noexcept;

/// Collective over `comm`: its ranks as a team, which is made once and kept with the communicator.
/// None, on all ranks, when Oriel cannot carry its windows; `why` then says what is in the way.
/// Threads: one-at-a-time per communicator.
[[nodiscard]] std::optional<Team> team_of(MPI_Comm comm, std::string& why);

/// Memory that the device knows. Requires: is_running().
[[nodiscard]] std::unique_ptr<BufferBytes> make_buffer(std::size_t bytes);

/// Lets go of memory that was kept for a next MPI_Alloc_mem, as the runtime ends.
void forget_idle_memory() noexcept;

/// What this process's windows have carried, for ORIEL_STATS.
struct Statistics {
  std::atomic<std::uint64_t> windows{0};
  std::atomic<std::uint64_t> native_windows{0};
  std::atomic<std::uint64_t> puts{0};
  std::atomic<std::uint64_t> gets{0};
  std::atomic<std::uint64_t> accumulates{0};  ///< and all other atomics
};
[[nodiscard]] Statistics& statistics() noexcept;

/// Counts without a locked instruction: what threads lose by counting at the same time is nothing
/// that a reader of statistics misses.
inline void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace oriel::mpi
