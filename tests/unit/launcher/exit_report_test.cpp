#include "launcher/exit_report.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace oriel::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

constexpr std::string_view kRule =
    "--------------------------------------------------------------------------\n";

// What Open MPI 4.1.4 writes.
constexpr std::string_view kKilled =
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "--------------------------------------------------------------------------\n"
    "mpirun noticed that process rank 2 with PID 123 on node vm-7.lab exited on signal 9 "
    "(Killed).\n"
    "--------------------------------------------------------------------------\n";
constexpr std::string_view kExited =
    "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n"
    "\n"
    "  Process name: [[32450,1],11]\n"
    "  Exit code:    3\n";
constexpr std::string_view kAborted =
    "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n"
    "with errorcode -7.\n";
constexpr std::string_view kNotStarted =
    "mpirun was unable to launch the specified application as it could not access\n"
    "or execute an executable:\n"
    "\n"
    "Executable: ./nope\n"
    "Node: node2\n"
    "\n"
    "while attempting to start process rank 0.\n";
constexpr std::string_view kNoDaemon =
    "ORTE was unable to reliably start one or more daemons.\n"
    "This usually is caused by:\n";

std::optional<RankEnd> verdict_of(std::string_view text, std::size_t chunk = 1000) {
  ExitReportReader reader;
  for (std::size_t at = 0; at < text.size(); at += chunk) reader.read(text.substr(at, chunk));
  return reader.verdict();
}

using Kind = RankEnd::Kind;
const RankEnd kKilledEnd = {Kind::killed, 2, "vm-7.lab", SIGKILL, ""};

TEST(ExitReport, ReadsEachOfMpirunsReports) {
  EXPECT_THAT(verdict_of(kKilled), Optional(kKilledEnd));
  EXPECT_THAT(verdict_of(kExited), Optional(RankEnd{Kind::exited, 11, "", 3, ""}));
  EXPECT_THAT(verdict_of(kAborted), Optional(RankEnd{Kind::aborted, 3, "", -7, ""}));
  EXPECT_THAT(verdict_of(kNotStarted),
              Optional(RankEnd{Kind::not_started, std::nullopt, "node2", 0, "./nope"}));
  EXPECT_THAT(verdict_of(kNoDaemon), Optional(RankEnd{.kind = Kind::no_daemon}));
}

TEST(ExitReport, ChunksMayBeCutAnywhere) {
  for (std::size_t chunk = 1; chunk < 90; ++chunk) {
    EXPECT_THAT(verdict_of(kKilled, chunk), Optional(kKilledEnd)) << chunk;
    EXPECT_TRUE(verdict_of(kExited, chunk).has_value()) << chunk;
  }
}

TEST(ExitReport, AbortOnACommunicatorOfTheProgramsOwnNamesNoWorldRank) {
  EXPECT_THAT(verdict_of("MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 4 DUP "
                         "FROM 0\nwith errorcode 1.\n"),
              Optional(RankEnd{Kind::aborted, std::nullopt, "", 1, ""}));
}

TEST(ExitReport, TheFirstVerdictCounts) {
  const std::string both = std::string(kAborted) + std::string(kKilled);
  EXPECT_THAT(verdict_of(both), Optional(testing::Field(&RankEnd::kind, Kind::aborted)));
}

TEST(ExitReport, OrdinaryOutputIsNoVerdict) {
  EXPECT_EQ(verdict_of("rank 3 exited on signal 9\nExit code: 4\nwith errorcode 5\nNode: x\n"),
            std::nullopt);
  EXPECT_EQ(verdict_of(kRule), std::nullopt);
  EXPECT_EQ(
      verdict_of("noticed that process rank x with PID\nProcess name: [[1,1]\nExit code: 3\n"),
      std::nullopt);
}

TEST(ExitReport, AnEndlessLineIsNotKeptAndHidesNothingAfterIt) {
  std::string text(1 << 20, 'x');
  text += "\n" + std::string(kKilled);
  EXPECT_THAT(verdict_of(text), Optional(kKilledEnd));
}

TEST(DescribeFailure, NamesRankNodeAndReason) {
  EXPECT_THAT(describe_failure(kKilledEnd, 137),
              AllOf(HasSubstr("rank 2 on node vm-7.lab was killed by signal 9 (SIGKILL); hint: "),
                    HasSubstr("memory")));
  EXPECT_THAT(describe_failure(verdict_of(kExited), 3), HasSubstr("rank 11 exited with status 3;"));
  EXPECT_THAT(describe_failure(verdict_of(kAborted), 249),
              HasSubstr("rank 3 called MPI_Abort with code -7;"));
  EXPECT_THAT(describe_failure(verdict_of(kNotStarted), 1),
              HasSubstr("./nope could not be started on node node2;"));
  EXPECT_THAT(describe_failure(verdict_of(kNoDaemon), 1), HasSubstr("ssh HOST true"));
}

TEST(DescribeFailure, IsOneLineForEverySignal) {
  for (int signal = 1; signal < 65; ++signal) {
    const std::string text = describe_failure(RankEnd{Kind::killed, 0, "n", signal, ""}, 1);
    EXPECT_THAT(text, AllOf(HasSubstr(signal_text(signal)), HasSubstr("; hint: "),
                            testing::Not(HasSubstr("\n"))));
  }
}

TEST(DescribeFailure, WithoutAVerdictTheStatusSpeaks) {
  EXPECT_THAT(describe_failure(std::nullopt, 139), HasSubstr("signal 11 (SIGSEGV)"));
  EXPECT_THAT(describe_failure(std::nullopt, 5), HasSubstr("status 5"));
}

}  // namespace
}  // namespace oriel::launcher
