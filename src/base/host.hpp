#pragma once

#include <cstdint>
#include <string>

namespace oriel::base {

/// What decides whether two processes share a machine and can reach each other's memory.
struct HostIdentity {
  std::string name{};    ///< host name, for messages
  std::uint64_t id = 0;  ///< equal: same kernel boot, same pid namespace, same user
};

/// Reads the kernel's boot id, the pid namespace and the effective user. Containers on one machine
/// differ unless they share the pid namespace: then /proc/<pid> means the same process to both.
[[nodiscard]] HostIdentity this_host();

}  // namespace oriel::base
