#include "launcher/job_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"

namespace oriel::launcher {
namespace {

using base::UniqueFd;
using Clock = std::chrono::steady_clock;

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kSignalOffset = 128;
constexpr int kCannotExecute = 127;
/// A pipe that polls writable takes this much without blocking (PIPE_BUF).
constexpr std::size_t kChunkBytes = 4096;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Blocks what it reports, and SIGPIPE for good: a reader that went away is an EPIPE here, and the
/// signal may still be pending at the end.
class SignalInbox {
 public:
  SignalInbox() {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGCHLD);
    for (const int signal : kForwarded) sigaddset(&watched_, signal);
    sigset_t blocked = watched_;
    sigaddset(&blocked, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &blocked, &before_);
    fd_ = UniqueFd(::signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw_errno("signalfd");
  }
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;
  ~SignalInbox() { ::sigprocmask(SIG_UNBLOCK, &watched_, nullptr); }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }

  [[nodiscard]] std::optional<signalfd_siginfo> next() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
    return info;
  }

 private:
  sigset_t watched_{};
  sigset_t before_{};
  UniqueFd fd_;
};

/// Carries the child's standard error to ours, never more than it takes at the moment.
class ErrorRelay {
 public:
  explicit ErrorRelay(UniqueFd source) : source_(std::move(source)) {
    ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
  }

  /// What to wait for now: bytes to come, or room for those at hand.
  [[nodiscard]] pollfd wish() const {
    if (!pending_.empty()) return {STDERR_FILENO, POLLOUT, 0};
    return {source_.get(), POLLIN, 0};  // poll ignores a negative descriptor
  }

  void serve() {
    if (pending_.empty()) {
      receive();
    } else {
      send();
    }
  }

  /// Nothing is at hand and nothing lies in the pipe.
  [[nodiscard]] bool idle() {
    if (pending_.empty()) receive();
    return pending_.empty();
  }

  [[nodiscard]] const std::optional<RankEnd>& verdict() const { return reader_.verdict(); }

 private:
  void receive() {
    if (!source_) return;
    const ssize_t got = ::read(source_.get(), buffer_.data(), buffer_.size());
    if (got > 0) {
      pending_ = {buffer_.data(), static_cast<std::size_t>(got)};
      reader_.read(pending_);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      source_.reset();
    }
  }

  void send() {
    const ssize_t sent = ::write(STDERR_FILENO, pending_.data(), pending_.size());
    if (sent >= 0) {
      pending_.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      pending_ = {};  // nobody reads any more; the job goes on
    }
  }

  UniqueFd source_;
  std::array<char, kChunkBytes> buffer_{};
  std::string_view pending_{};
  ExitReportReader reader_;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void become(char* const* words, const UniqueFd& error_pipe, const sigset_t& mask,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kSignalOffset + SIGTERM);  // it died before the line above
  ::dup2(error_pipe.get(), STDERR_FILENO);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(words[0], words);
  std::perror(words[0]);
  ::_exit(kCannotExecute);
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalOffset + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

std::vector<pid_t> children() {
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

/// As the adopter of orphans we get the children of each child that goes, until none are left.
void kill_all_descendants() {
  for (auto pids = children(); !pids.empty(); pids = children()) {
    for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  }
}

class Job {
 public:
  Job(std::vector<std::string> words, const std::vector<std::string>& variables) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
    relay_.emplace(UniqueFd(ends[0]));
    const UniqueFd error_pipe(ends[1]);
    for (const std::string& line : variables) {
      const auto equals = line.find('=');
      ::setenv(line.substr(0, equals).c_str(), line.substr(equals + 1).c_str(), 1);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const std::vector<char*> argv = pointers(words);
    const pid_t self = ::getpid();
    child_ = ::fork();
    if (child_ < 0) throw_errno("fork");
    if (child_ == 0) become(argv.data(), error_pipe, inbox_.mask_before(), self);
  }

  JobEnd wait() {
    while (!status_ || !relay_->idle()) {
      std::array<pollfd, 2> wishes = {pollfd{inbox_.fd(), POLLIN, 0}, relay_->wish()};
      ::poll(wishes.data(), wishes.size(), milliseconds_to_deadline());
      if (wishes[1].revents != 0) relay_->serve();
      read_signals();
      if (!status_ && kill_at_ && Clock::now() >= *kill_at_) {
        ::kill(child_, SIGKILL);
        kill_at_.reset();
      }
      if (status_ && end_.stop_signal) break;  // told to stop: wait for no slow reader
    }
    end_.killed_itself = WIFSIGNALED(*status_);
    if (end_.killed_itself) kill_all_descendants();
    end_.status = shell_status(*status_);
    end_.verdict = relay_->verdict();
    return end_;
  }

 private:
  [[nodiscard]] int milliseconds_to_deadline() const {
    if (status_ || !kill_at_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
    return static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0}));
  }

  void read_signals() {
    while (const auto info = inbox_.next()) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (signal == SIGCHLD) {
        reap();
      } else {
        forward(signal, info->ssi_code == SI_KERNEL);
      }
    }
  }

  void reap() {
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
         pid = ::waitpid(-1, &status, WNOHANG)) {
      if (pid == child_) status_ = status;
    }
  }

  /// @param by_terminal  the terminal has sent it to the whole process group, the child included
  void forward(int signal, bool by_terminal) {
    if (signal != SIGUSR1 && signal != SIGUSR2) {
      if (!end_.stop_signal) kill_at_ = Clock::now() + std::chrono::seconds(kStopGraceSeconds);
      end_.stop_signal = end_.stop_signal.value_or(signal);
    }
    if (status_) return;
    // mpirun does not clean up after SIGHUP.
    if (signal == SIGHUP) return static_cast<void>(::kill(child_, SIGTERM));
    if (!by_terminal) ::kill(child_, signal);
  }

  SignalInbox inbox_;
  std::optional<ErrorRelay> relay_;
  pid_t child_ = -1;
  std::optional<int> status_;  // of waitpid
  std::optional<Clock::time_point> kill_at_;
  JobEnd end_;
};

}  // namespace

JobEnd run_job(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  return Job(words, variables).wait();
}

}  // namespace oriel::launcher
