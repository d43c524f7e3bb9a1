#include "launcher/scratch_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "launcher/job_request.hpp"

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "oriel-run.";
constexpr int kAttempts = 3;

fs::path base_directory() {
  const fs::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK | X_OK) == 0 ? memory : fs::temp_directory_path();
}

/// Without close-on-exec: mpirun holds the lock too.
base::UniqueFd open_directory(const fs::path& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

bool lock(const base::UniqueFd& directory) {
  return ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Removes what killed jobs of this user have left.
void sweep(const fs::path& base) {
  std::error_code ignored;  // somebody else may sweep at the same time
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const base::UniqueFd directory = open_directory(entry.path());
    struct stat status {};
    const bool ours =
        directory && ::fstat(directory.get(), &status) == 0 && status.st_uid == ::geteuid();
    if (ours && lock(directory)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  const fs::path base = base_directory();
  sweep(base);
  // Another oriel-run may sweep the new directory away before it is locked; it does so once.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = (base / fmt::format("{}XXXXXX", kPrefix)).string();
    if (::mkdtemp(name.data()) == nullptr) break;
    path_ = name;
    lock_ = open_directory(path_);
    std::error_code gone;
    if (lock(lock_) && fs::exists(path_, gone)) return;
  }
  throw std::system_error(errno, std::generic_category(), base.string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> ScratchDirectory::variables(
    const std::vector<std::string>& environment) const {
  std::vector<std::string> lines;
  for (const std::string_view name :
       {"OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_btl_vader_backing_directory"}) {
    if (!find_variable(environment, name))
      lines.push_back(fmt::format("{}={}", name, path_.string()));
  }
  return lines;
}

}  // namespace oriel::launcher
