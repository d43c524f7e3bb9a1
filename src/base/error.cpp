#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/throw_error.hpp"

namespace oriel {
namespace {

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "oriel"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<ErrorCode>(value)) {
      case ErrorCode::invalid_argument:
        return "invalid argument";
      case ErrorCode::out_of_range:
        return "out of range";
      case ErrorCode::invalid_rank:
        return "invalid rank";
      case ErrorCode::misaligned:
        return "misaligned";
      case ErrorCode::window_freed:
        return "already freed";
      case ErrorCode::request_ended:
        return "request ended";
      case ErrorCode::invalid_option:
        return "invalid option";
      case ErrorCode::version_mismatch:
        return "version mismatch";
      case ErrorCode::option_mismatch:
        return "option mismatch";
      case ErrorCode::no_device:
        return "no RDMA device";
      case ErrorCode::locked_memory_limit:
        return "locked-memory limit too low";
      case ErrorCode::registration_failed:
        return "memory registration failed";
      case ErrorCode::out_of_memory:
        return "out of memory";
      case ErrorCode::connection_failed:
        return "connection failed";
      case ErrorCode::peer_lost:
        return "peer lost";
      case ErrorCode::transport_failed:
        return "transport failed";
      case ErrorCode::peer_failed:
        return "failed on another rank";
      case ErrorCode::wrong_epoch:
        return "wrong epoch";
      case ErrorCode::unsupported:
        return "unsupported";
      case ErrorCode::internal:
        return "internal error";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(ErrorCode code) noexcept {
  return {static_cast<int>(code), error_category()};
}

Error::Error(ErrorCode code, ErrorDetails details)
    : std::system_error(make_error_code(code)),
      facts_(std::make_shared<const Facts>(
          Facts{.details = details, .text = base::error_text(code, details)})) {}

namespace base {

std::string errno_text(int error) {
  return fmt::format("{} (errno {})", std::generic_category().message(error), error);
}

std::string error_text(ErrorCode code, const ErrorDetails& d) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (!d.operation.empty()) fmt::format_to(out, "{}: ", d.operation);
  fmt::format_to(out, "{}", make_error_code(code).message());
  if (!d.problem.empty()) fmt::format_to(out, ": {}", d.problem);
  if (d.work_completion_status) fmt::format_to(out, " (status {})", *d.work_completion_status);
  if (d.vendor_error) fmt::format_to(out, ", vendor {:#x}", *d.vendor_error);
  if (d.system_errno) fmt::format_to(out, ": {}", errno_text(*d.system_errno));
  if (!d.device.empty()) fmt::format_to(out, "; {}", d.device);
  if (d.origin && d.target) {
    fmt::format_to(out, "; rank {} -> {}", *d.origin, *d.target);
  } else if (d.origin || d.target) {
    fmt::format_to(out, "; rank {}", d.origin ? *d.origin : *d.target);
  }
  if (!d.target_host.empty()) fmt::format_to(out, " ({})", d.target_host);
  if (d.window) fmt::format_to(out, "; window {}", *d.window);
  if (d.offset_bytes) {
    fmt::format_to(out, "{} offset {}", d.window ? "," : ";", *d.offset_bytes);
  }
  if (d.length_bytes) {
    fmt::format_to(out, "{} {} bytes", d.window || d.offset_bytes ? "," : ";", *d.length_bytes);
  }
  if (!d.hint.empty()) fmt::format_to(out, "; hint: {}", d.hint);
  return text;
}

void throw_error(ErrorCode code, ErrorDetails details) {
  throw Error(code, std::move(details));
}

}  // namespace base
}  // namespace oriel
