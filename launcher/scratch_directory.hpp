#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

namespace oriel::launcher {

/// A private directory in memory (/dev/shm, else the directory for temporary files) for what MPI
/// leaves lying about when mpirun itself is killed: its session files and shared memory.
///
/// Removed with all its contents at the end of the object's life. If oriel-run is killed before,
/// the next one removes it: a directory is in use as long as a process holds its lock, and mpirun
/// inherits the lock.
class ScratchDirectory {
 public:
  /// Errors: std::system_error if it cannot be made.
  ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  /// NAME=VALUE lines that make Open MPI work in here, as far as `environment` does not say
  /// otherwise. For jobs on this machine only: other hosts do not have the directory.
  [[nodiscard]] std::vector<std::string> variables(
      const std::vector<std::string>& environment) const;

 private:
  std::filesystem::path path_;
  base::UniqueFd lock_;
};

}  // namespace oriel::launcher
