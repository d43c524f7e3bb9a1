#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oriel::launcher {

/// What mpirun says about the rank that ended a job.
struct RankEnd {
  enum class Kind : std::uint8_t { killed, exited, aborted, not_started, no_daemon };
  Kind kind = Kind::exited;
  std::optional<int> rank{};  ///< in MPI_COMM_WORLD
  std::string node{};         ///< "" if mpirun does not say
  int number = 0;             ///< signal, exit status or abort code
  std::string program{};      ///< the program that could not be started

  friend bool operator==(const RankEnd&, const RankEnd&) = default;
};

/// Finds mpirun's verdict in its standard error, which also carries all that the ranks write.
/// The first verdict counts: later ones are consequences.
class ExitReportReader {
 public:
  /// @param chunk  the next bytes, cut anywhere
  void read(std::string_view chunk);
  [[nodiscard]] const std::optional<RankEnd>& verdict() const { return verdict_; }

 private:
  void line(std::string_view text);

  std::string partial_;                // a line whose end has not come yet
  std::optional<RankEnd> unfinished_;  // a verdict whose second half has not come yet
  std::optional<RankEnd> verdict_;
};

/// One line: which rank, why, and what to do about it.
/// @param verdict  empty if mpirun did not name a rank
/// @param status   of mpirun, as a shell counts: 128 + n if it was ended by signal n
[[nodiscard]] std::string describe_failure(const std::optional<RankEnd>& verdict, int status);

/// "signal 9 (SIGKILL)"
[[nodiscard]] std::string signal_text(int signal);

}  // namespace oriel::launcher
