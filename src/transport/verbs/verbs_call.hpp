#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::verbs {

/// Throws for a set-up call that failed: names the call, the errno and what it was about
/// ("rxe0 port 1").
[[noreturn]] inline void throw_failed_call(std::string_view call, int error,
                                           std::string device = {}) {
  const bool exhausted = error == ENOMEM || error == EAGAIN || error == ENOSPC;
  base::throw_error(
      exhausted ? ErrorCode::out_of_memory : ErrorCode::transport_failed,
      {.operation = "verbs set-up",
       .problem = fmt::format("{} failed", call),
       .system_errno = error,
       .device = std::move(device),
       .hint = exhausted ? "the device has no room for more objects: fewer ranks per machine, or "
                           "see its limits in oriel-info"
                         : "oriel-info shows the devices and their ports; the kernel's log may say "
                           "more (dmesg)"});
}

/// For calls that return 0 or -1 and set errno, as librdmacm's do.
inline void check_call(int result, std::string_view call, std::string device = {}) {
  if (result != 0) throw_failed_call(call, errno, std::move(device));
}

/// For calls that return an object or null and set errno.
template <class Handle>
[[nodiscard]] Handle check_made(typename Handle::pointer made, std::string_view call,
                                std::string device = {}) {
  if (made == nullptr) throw_failed_call(call, errno, std::move(device));
  return Handle(made);
}

}  // namespace oriel::verbs
