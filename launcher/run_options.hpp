#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/job_request.hpp"

namespace oriel::launcher {

/// A command line that cannot be understood.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the command line of oriel-run means.
struct RunOptions {
  JobRequest request{};
  bool dry_run = false;
  std::string answer{};  ///< the text of --help or --version; nothing else counts then
};

/// @param words  without the program's own name. Errors: UsageError.
[[nodiscard]] RunOptions parse_run_options(std::vector<std::string> words);

}  // namespace oriel::launcher
