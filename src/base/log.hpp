#pragma once
/// Logging: "oriel: [rank 3] [warning] text" on standard error. Off the fast path only.

#include <string_view>

#include <fmt/format.h>

namespace oriel::base {

enum class LogLevel { debug, info, warning, error, off };

/// Set once at start-up; before that: warning, and no rank in the prefix.
void set_log_level(LogLevel level);
void set_log_rank(int rank);
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
void log_text(LogLevel level, std::string_view text) noexcept;

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (!log_enabled(level)) return;
  try {
    log_text(level, fmt::format(format, std::forward<Args>(args)...));
  } catch (...) {
    log_text(level, "a log message could not be formatted");
  }
}

}  // namespace oriel::base
