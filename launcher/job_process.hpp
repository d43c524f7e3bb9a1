#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/exit_report.hpp"

namespace oriel::launcher {

struct JobEnd {
  int status = 0;                    ///< as a shell counts: 128 + n if ended by signal n
  bool killed_itself = false;        ///< the child, not one of its ranks, was ended by a signal
  std::optional<int> stop_signal{};  ///< the first signal that asked oriel-run to stop
  std::optional<RankEnd> verdict{};  ///< what mpirun said of the rank that failed
};

/// Runs `words` as a child and waits for its end.
///
/// Standard input and output are the child's own; its standard error passes through here, unchanged
/// and at once. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 go on to the child. A child told to
/// stop that has not ended after `kStopGraceSeconds` is killed. The child is asked to stop if this
/// process dies. A child that dies of a signal cannot clean up: whatever it has started and left is
/// killed.
///
/// To be called once, by a process of one thread: it changes signal masks and who adopts orphans.
/// @param variables  NAME=VALUE, added to the child's environment
/// Errors: std::system_error if no child can be made; a status of 127 if it cannot be executed.
[[nodiscard]] JobEnd run_job(const std::vector<std::string>& words,
                             const std::vector<std::string>& variables);

inline constexpr int kStopGraceSeconds = 10;

}  // namespace oriel::launcher
