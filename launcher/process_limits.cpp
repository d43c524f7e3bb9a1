#include "launcher/process_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <string_view>

namespace oriel::launcher {

ProcessLimits process_limits() {
  ProcessLimits limits{.locking = verbs::locking_rights()};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
    limits.open_files = files.rlim_cur;
  }
  return limits;
}

std::string bytes_text(std::optional<std::uint64_t> bytes) {
  if (!bytes) return "no limit";
  constexpr std::array<std::string_view, 4> kUnits = {"bytes", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  std::uint64_t count = *bytes;
  while (count != 0 && count % 1024 == 0 && unit + 1 < kUnits.size()) {
    count /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", count, kUnits[unit]);
}

}  // namespace oriel::launcher
