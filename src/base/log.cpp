#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

namespace oriel::base {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// Never destroyed: agent threads and destructors of statics may log until the process ends.
spdlog::logger& logger() {
  static auto* const instance = [] {
    auto* made = new spdlog::logger("oriel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%n: [%l] %v");
    made->set_level(spdlog::level::warn);
    return made;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) {
  logger().set_level(to_spdlog(level));
}

void set_log_rank(int rank) {
  logger().set_pattern(fmt::format("%n: [rank {}] [%l] %v", rank));
}

bool log_enabled(LogLevel level) noexcept {
  return logger().should_log(to_spdlog(level));
}

void log_text(LogLevel level, std::string_view text) noexcept {
  logger().log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace oriel::base
