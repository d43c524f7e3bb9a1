#pragma once

#include <string>

namespace oriel::launcher {

/// Whether a process may read the memory of another one of the same user, as windows over ordinary
/// memory need between ranks of one machine.
struct CrossMemoryAccess {
  bool permitted = false;
  std::string reason;  ///< what was tried, and what the kernel said
};

/// Tries it with a child made for the purpose, which is gone on return.
[[nodiscard]] CrossMemoryAccess probe_cross_memory();

}  // namespace oriel::launcher
