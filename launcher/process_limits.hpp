#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/verbs/registered_memory.hpp"

namespace oriel::launcher {

/// What this process, and those it starts here, may use.
struct ProcessLimits {
  verbs::LockingRights locking{};
  std::optional<std::uint64_t> open_files{};  ///< RLIMIT_NOFILE; empty: no limit
};

[[nodiscard]] ProcessLimits process_limits();

/// "no limit", "65000 bytes", "8 MiB": in the largest unit that is exact.
[[nodiscard]] std::string bytes_text(std::optional<std::uint64_t> bytes);

}  // namespace oriel::launcher
