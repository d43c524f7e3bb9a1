#include "launcher/job_process.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace oriel::launcher {
namespace {

using testing::Optional;

JobEnd shell(const std::string& script, const std::vector<std::string>& variables = {}) {
  return run_job({"sh", "-c", script}, variables);
}

TEST(RunJob, ReturnsTheStatus) {
  EXPECT_EQ(shell("exit 0").status, 0);
  EXPECT_EQ(shell("exit 3").status, 3);
  EXPECT_FALSE(shell("exit 3").killed_itself);
}

TEST(RunJob, CountsASignalAsAShellDoes) {
  const JobEnd end = shell("kill -9 $$");
  EXPECT_EQ(end.status, 137);
  EXPECT_TRUE(end.killed_itself);
  EXPECT_EQ(end.stop_signal, std::nullopt);
}

TEST(RunJob, WhatCannotBeExecutedIs127) {
  EXPECT_EQ(run_job({"/nowhere/program"}, {}).status, 127);
}

TEST(RunJob, AddsVariables) {
  EXPECT_EQ(shell("test \"$A_B\" = 'x=y z'", {"A_B=x=y z"}).status, 0);
}

TEST(RunJob, PassesStandardErrorOnAndReadsIt) {
  testing::internal::CaptureStderr();
  const JobEnd end = shell(
      "echo 'mpirun noticed that process rank 1 with PID 0 on node n exited on signal 11 (x).' "
      ">&2; printf tail >&2; exit 1");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "mpirun noticed that process rank 1 with PID 0 on node n exited on signal 11 (x).\n"
            "tail");
  EXPECT_THAT(end.verdict, Optional(RankEnd{RankEnd::Kind::killed, 1, "n", 11, ""}));
}

TEST(RunJob, DoesNotWaitForWhoeverElseHoldsThePipe) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("launcher-test." + std::to_string(::getpid()));
  // Ends long after any time limit of this test.
  EXPECT_EQ(shell("sleep 100000 & echo $! > " + file.string() + "; exit 4").status, 4);
  pid_t sleeper = 0;
  std::ifstream(file) >> sleeper;
  std::filesystem::remove(file);
  ASSERT_GT(sleeper, 0);
  EXPECT_EQ(::kill(sleeper, SIGKILL), 0) << "an ordinary end leaves what the child left running";
}

TEST(RunJob, ForwardsSignalsAndRemembersTheFirstStop) {
  const JobEnd end =
      shell("trap 'exit 9' TERM; kill -TERM $PPID; for i in $(seq 1000); do sleep 0.05; done");
  EXPECT_EQ(end.status, 9);
  EXPECT_THAT(end.stop_signal, Optional(SIGTERM));
  const JobEnd user =
      shell("trap 'exit 8' USR1; kill -USR1 $PPID; for i in $(seq 1000); do sleep 0.05; done");
  EXPECT_EQ(user.status, 8);
  EXPECT_EQ(user.stop_signal, std::nullopt);
}

TEST(RunJob, GivesTheChildAnUntouchedSignalMask) {
  EXPECT_EQ(shell("grep -q '^SigBlk:.*0000000000000000$' /proc/self/status").status, 0);
  EXPECT_EQ(shell("grep -q '^SigIgn:.*0000000000000000$' /proc/self/status").status, 0);
}

}  // namespace
}  // namespace oriel::launcher
