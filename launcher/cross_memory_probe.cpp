#include "launcher/cross_memory_probe.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/throw_error.hpp"

namespace oriel::launcher {
namespace {

/// Returns 0, or the errno of reading `word` of the process `peer`.
int read_word(pid_t peer, unsigned long* word) {
  unsigned long copy = 0;
  const iovec mine{&copy, sizeof copy};
  const iovec theirs{word, sizeof copy};
  const ssize_t got = ::process_vm_readv(peer, &mine, 1, &theirs, 1, 0);
  if (got < 0) return errno;
  return got == static_cast<ssize_t>(sizeof copy) ? 0 : EIO;
}

std::string yama_text() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  std::string scope;
  return file >> scope ? fmt::format(" (kernel.yama.ptrace_scope is {})", scope) : "";
}

}  // namespace

CrossMemoryAccess probe_cross_memory() {
  unsigned long word = 1;
  const pid_t parent = ::getpid();
  // The child reads the parent, not the other way round: ancestors may do more than the siblings
  // that ranks are. As a rank does, the parent lets everybody of its user in.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(read_word(parent, &word));
  int status = 0;
  const bool tried = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  ::prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  if (!tried) return {false, "could not be tried: no process could be made"};
  const int error = WEXITSTATUS(status);
  if (error == 0) return {true, "a process read another one by process_vm_readv" + yama_text()};
  return {false,
          fmt::format("process_vm_readv failed: {}{}", base::errno_text(error), yama_text())};
}

}  // namespace oriel::launcher
