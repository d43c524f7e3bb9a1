#include "launcher/exit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

namespace oriel::launcher {
namespace {

/// A rank may write without ever ending a line; verdicts are short.
constexpr std::size_t kLongestLine = 4096;
constexpr int kSignalOffset = 128;

std::optional<int> number_at_front(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The number right behind the first `label` in `text`, blanks skipped; `text` moves behind it.
std::optional<int> number_after(std::string_view& text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return number_at_front(text);
}

std::string_view word_after(std::string_view text, std::string_view label) {
  const auto at = text.find(label);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find(' '));
}

/// "mpirun noticed that process rank 2 with PID 123 on node X exited on signal 9 (Killed)."
std::optional<RankEnd> read_killed(std::string_view text) {
  const auto rank = number_after(text, "noticed that process rank ");
  if (!rank) return std::nullopt;
  const std::string node(word_after(text, " on node "));
  const auto signal = number_after(text, " exited on signal ");
  if (!signal) return std::nullopt;
  return RankEnd{.kind = RankEnd::Kind::killed, .rank = rank, .node = node, .number = *signal};
}

/// "  Process name: [[32450,1],3]", which "  Exit code:    3" follows.
std::optional<RankEnd> read_process_name(std::string_view text) {
  if (!number_after(text, "Process name: [[")) return std::nullopt;
  const auto rank = number_after(text, "],");
  if (!rank) return std::nullopt;
  return RankEnd{.kind = RankEnd::Kind::exited, .rank = rank};
}

/// "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD", then "with errorcode 7."
std::optional<RankEnd> read_abort(std::string_view text) {
  const bool world = text.find("communicator MPI_COMM_WORLD") != std::string_view::npos;
  const auto rank = number_after(text, "MPI_ABORT was invoked on rank ");
  if (!rank) return std::nullopt;
  return RankEnd{.kind = RankEnd::Kind::aborted, .rank = world ? rank : std::nullopt};
}

/// Takes the second half of a verdict from `text`; false if it is not there.
bool complete(RankEnd& end, std::string_view text) {
  if (end.kind == RankEnd::Kind::not_started) {
    end.node = word_after(text, "Node: ");
    return !end.node.empty();
  }
  const bool exited = end.kind == RankEnd::Kind::exited;
  const auto number = number_after(text, exited ? "Exit code:" : "with errorcode ");
  end.number = number.value_or(0);
  return number.has_value();
}

std::string_view signal_hint(int signal) {
  switch (signal) {
    case SIGKILL:
      return "somebody killed it, or the kernel did for want of memory (see dmesg)";
    case SIGSEGV:
      return "it used an address that is not its own; run it under a debugger, or build it with "
             "-fsanitize=address";
    case SIGBUS:
      return "shared memory ran out, or a mapped file was cut short; see `df /dev/shm`";
    case SIGABRT:
      return "an uncaught exception or a failed assertion; its text is above";
    case SIGILL:
      return "it was built for another kind of CPU";
    case SIGFPE:
      return "an integer was divided by zero";
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return "somebody or a batch system ended it";
    default:
      return "its own output above may tell more";
  }
}

std::string who(const RankEnd& end) {
  std::string text = end.rank ? fmt::format("rank {}", *end.rank) : "a rank";
  if (!end.node.empty()) text += " on node " + end.node;
  return text;
}

std::string describe_unnamed(int status) {
  const std::string why = status > kSignalOffset
                              ? fmt::format("{} ended the job", signal_text(status - kSignalOffset))
                              : fmt::format("the job ended with status {}", status);
  return fmt::format(
      "{}, and mpirun names no rank; hint: its own words, if any, are above; a rank that ends "
      "before all have started is not named",
      why);
}

}  // namespace

std::string signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal)
                         : fmt::format("signal {} (SIG{})", signal, name);
}

void ExitReportReader::read(std::string_view chunk) {
  if (verdict_) return;
  for (auto end = chunk.find('\n'); end != std::string_view::npos; end = chunk.find('\n')) {
    partial_ += chunk.substr(0, end);
    line(partial_);
    partial_.clear();
    chunk.remove_prefix(end + 1);
  }
  partial_ += chunk;
  if (partial_.size() > kLongestLine) partial_.clear();
}

void ExitReportReader::line(std::string_view text) {
  if (verdict_) return;
  if (unfinished_ && complete(*unfinished_, text)) {
    verdict_ = std::exchange(unfinished_, std::nullopt);
    return;
  }
  if (auto killed = read_killed(text)) {
    verdict_ = std::move(killed);
  } else if (auto exited = read_process_name(text)) {
    unfinished_ = std::move(exited);
  } else if (auto aborted = read_abort(text)) {
    unfinished_ = std::move(aborted);
  } else if (text.starts_with("Executable: ")) {
    unfinished_ = RankEnd{.kind = RankEnd::Kind::not_started,
                          .program = std::string(word_after(text, "Executable: "))};
  } else if (text.find("unable to reliably start one or more daemons") != std::string_view::npos) {
    verdict_ = RankEnd{.kind = RankEnd::Kind::no_daemon};
  }
}

std::string describe_failure(const std::optional<RankEnd>& verdict, int status) {
  if (!verdict) return describe_unnamed(status);
  switch (verdict->kind) {
    case RankEnd::Kind::killed:
      return fmt::format("{} was killed by {}; hint: {}", who(*verdict),
                         signal_text(verdict->number), signal_hint(verdict->number));
    case RankEnd::Kind::exited:
      return fmt::format("{} exited with status {}; hint: what it wrote before is above",
                         who(*verdict), verdict->number);
    case RankEnd::Kind::aborted:
      return fmt::format("{} called MPI_Abort with code {}; hint: its reason is above",
                         who(*verdict), verdict->number);
    case RankEnd::Kind::not_started:
      return fmt::format(
          "{} could not be started on node {}; hint: every host needs it under the same path",
          verdict->program, verdict->node);
    case RankEnd::Kind::no_daemon:
      return "mpirun could not start its daemon on another host; hint: `ssh HOST true` must work "
             "without a password, and every host needs the same Open MPI";
  }
  return describe_unnamed(status);
}

}  // namespace oriel::launcher
