#pragma once

#include <string>

#include <oriel/error.hpp>

namespace oriel::base {

/// The one-line text of an error: "put: out of range: …; rank 3 -> 7 (node2); window 2, offset
/// 4096, 64 bytes; hint: …".
[[nodiscard]] std::string error_text(ErrorCode code, const ErrorDetails& details);

/// Throws Error; keeps call sites to what differs: `throw_error(ErrorCode::no_device, {.operation =
/// "…", .problem = …})`.
[[noreturn]] void throw_error(ErrorCode code, ErrorDetails details);

/// Text of an errno, thread-safe: "Cannot allocate memory (errno 12)".
[[nodiscard]] std::string errno_text(int error);

}  // namespace oriel::base
