#include "launcher/run_options.hpp"

#include <gmock/gmock.h>

#include <tuple>

namespace oriel::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string usage_error(std::vector<std::string> words) {
  try {
    std::ignore = parse_run_options(std::move(words));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunOptions, DefaultsLeaveEverythingOpen) {
  const RunOptions options = parse_run_options({"prog"});
  EXPECT_THAT(options.request.program, ElementsAre("prog"));
  EXPECT_EQ(options.request.ranks, std::nullopt);
  EXPECT_EQ(options.request.fabric, "");
  EXPECT_EQ(options.request.bind, Bind::automatic);
  EXPECT_FALSE(options.dry_run);
}

TEST(RunOptions, ReadsEveryOption) {
  const RunOptions options = parse_run_options(
      {"-n",        "4",    "--hosts",     "a:2,b", "--fabric",      "verbs",
       "--log",     "info", "--interface", "eth0",  "--bind",        "core",
       "--env",     "A=1",  "--env",       "B",     "--mpirun-args", "--tag-output --x 'y z'",
       "--dry-run", "prog", "arg"});
  const JobRequest& request = options.request;
  EXPECT_EQ(request.ranks, 4U);
  EXPECT_THAT(request.hosts, ElementsAre(Host{"a", 2}, Host{"b", 1}));
  EXPECT_EQ(request.fabric, "verbs");
  EXPECT_EQ(request.log, "info");
  EXPECT_EQ(request.interface, "eth0");
  EXPECT_EQ(request.bind, Bind::core);
  EXPECT_THAT(request.exports, ElementsAre("A=1", "B"));
  EXPECT_THAT(request.mpirun_args, ElementsAre("--tag-output", "--x", "y z"));
  EXPECT_TRUE(options.dry_run);
  EXPECT_THAT(request.program, ElementsAre("prog", "arg"));
}

TEST(RunOptions, TheProgramKeepsItsOwnOptions) {
  EXPECT_THAT(
      parse_run_options({"-n", "2", "prog", "-n", "3", "--help", "--", "x"}).request.program,
      ElementsAre("prog", "-n", "3", "--help", "--", "x"));
  EXPECT_THAT(parse_run_options({"--", "--odd-name", "--dry-run"}).request.program,
              ElementsAre("--odd-name", "--dry-run"));
}

TEST(RunOptions, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(usage_error({}), HasSubstr("no PROGRAM"));
  EXPECT_THAT(usage_error({"--"}), HasSubstr("no PROGRAM"));
  EXPECT_THAT(usage_error({"--frob", "prog"}), HasSubstr("--frob"));
  EXPECT_THAT(usage_error({"-n", "0", "prog"}), HasSubstr("--ranks"));
  EXPECT_THAT(usage_error({"-n", "two", "prog"}), HasSubstr("--ranks"));
  EXPECT_THAT(usage_error({"-n"}), HasSubstr("--ranks"));
  EXPECT_THAT(usage_error({"--fabric", "ucx", "prog"}), HasSubstr("auto,shm,verbs"));
  EXPECT_THAT(usage_error({"--bind", "socket", "prog"}), HasSubstr("--bind"));
  EXPECT_THAT(usage_error({"--hosts", "a:b", "prog"}), HasSubstr("\"a:b\""));
  EXPECT_THAT(usage_error({"--mpirun-args", "'x", "prog"}), HasSubstr("never closed"));
}

TEST(RunOptions, HelpAndVersionAreAnswers) {
  EXPECT_THAT(parse_run_options({"--help"}).answer,
              testing::AllOf(HasSubstr("PROGRAM"), HasSubstr("Examples:"), HasSubstr("--dry-run")));
  EXPECT_THAT(parse_run_options({"--version"}).answer, testing::StartsWith("oriel-run "));
}

TEST(RunOptions, MpiIsAFlagBeforeTheProgram) {
  const RunOptions options = parse_run_options({"-n", "2", "--mpi", "./prog", "--mpi"});
  EXPECT_TRUE(options.request.mpi);
  EXPECT_THAT(options.request.program, ElementsAre("./prog", "--mpi"));
  EXPECT_FALSE(parse_run_options({"./prog", "--mpi"}).request.mpi);
}

}  // namespace
}  // namespace oriel::launcher
