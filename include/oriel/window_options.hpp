#pragma once
/// What a window is made of and promised, and the words of its epochs.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <oriel/export.hpp>

namespace oriel {

/// How a window's memory came to be.
enum class WindowKind : std::uint8_t {
  allocated,  ///< by Oriel, mapped by all ranks of a machine [MPI_Win_allocate]
  created,    ///< the program's own [MPI_Win_create]
  shared,     ///< by Oriel, ranks of one machine alone, every part open to loads and stores of all
              ///< [MPI_Win_allocate_shared]
  dynamic,    ///< attached and detached while the window lives [MPI_Win_create_dynamic]
};

/// Who carries out atomics on a window's words, on all ranks alike: CPU and NIC atomics on one word
/// are not atomic to each other.
enum class CoherenceDomain : std::uint8_t {
  cpu,          ///< all ranks on one machine: CPU atomics
  cpu_and_nic,  ///< CPU on the node, the device across: it says IBV_ATOMIC_GLOB
  nic,          ///< everything through the device, peers on the node and oneself included
};

[[nodiscard]] ORIEL_API std::string_view to_string(WindowKind kind) noexcept;
[[nodiscard]] ORIEL_API std::string_view to_string(CoherenceDomain domain) noexcept;

/// Given at creation, alike on all ranks (else option_mismatch on all), and readable back. A
/// promise buys speed; to break it makes results wrong, not the program.
struct WindowOptions {
  /// Slots for notifications, 8 bytes each.
  std::size_t notification_slots = 64;
  /// Dynamic windows: regions that a rank can have attached at a time, 64 bytes each.
  std::size_t most_regions = 1024;
  /// Promise: accumulates that may meet on one location all use one and the same operation, or
  /// no_op [accumulate_ops = same_op_no_op].
  bool single_op = false;
  /// Promise: every accumulate is of one element [MPI-4 mpi_accumulate_granularity]. Between
  /// machines one double is then a read and a compare-and-swap, not a lock, a get and a put.
  bool single_element = false;
  /// Promise: no two ranks accumulate to the same location without synchronisation in between.
  bool no_concurrent_accumulate = false;
  /// Shared windows: parts follow each other without gaps in the order of ranks; else each lies on
  /// pages of its own, near its rank [alloc_shared_noncontig = false].
  bool contiguous = true;

  [[nodiscard]] bool operator==(const WindowOptions&) const = default;
};

enum class LockMode : std::uint8_t { shared, exclusive };

/// What a program knows about a fence, and need not be waited for [MPI_MODE_*]. Combined by |.
enum class FenceAssertion : unsigned {
  none = 0,
  no_store = 1,    ///< no plain stores to the own part since the last fence
  no_put = 2,      ///< nobody will put to this rank's part until the next fence
  no_precede = 4,  ///< this rank has nothing to complete: no flush. The same on all ranks.
  no_succeed = 8,  ///< no operations until the next fence. The same on all ranks.
};

[[nodiscard]] constexpr FenceAssertion operator|(FenceAssertion a, FenceAssertion b) noexcept {
  return static_cast<FenceAssertion>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool contains(FenceAssertion all, FenceAssertion one) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

}  // namespace oriel
