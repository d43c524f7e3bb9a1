#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/bench/measurement.hpp"

namespace oriel::bench {

struct BenchOptions {
  std::vector<Operation> operations{};
  std::vector<std::size_t> sizes{};
  WindowKind window = WindowKind::allocated;
  std::string fabric{};  ///< "": what ORIEL_FABRIC says
  Plan plan{};
  std::string json{};
  std::string plot{};

  /// The rows, in order.
  [[nodiscard]] std::vector<Task> tasks() const;
};

/// @return the status to end with, if the program is to end: help, version, an error (on rank 0
/// with a message)
[[nodiscard]] std::optional<int> parse(int argc, char** argv, bool prints, BenchOptions& options);

}  // namespace oriel::bench
