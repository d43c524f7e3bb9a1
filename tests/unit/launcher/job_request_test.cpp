#include "launcher/job_request.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <tuple>

namespace oriel::launcher {
namespace {

using testing::ElementsAre;

TEST(ParseHosts, ReadsNamesAndSlots) {
  EXPECT_THAT(parse_hosts("node1:4,node2,10.0.0.3:2"),
              ElementsAre(Host{"node1", 4}, Host{"node2", 1}, Host{"10.0.0.3", 2}));
  EXPECT_EQ(total_slots(parse_hosts("node1:4,node2,10.0.0.3:2")), 7U);
}

TEST(ParseHosts, NamesTheMalformedEntry) {
  for (const char* bad :
       {"", "a,,b", ":4", "a:0", "a:x", "a:4x", "a:", "a:70000", "a b", "a:1:2"}) {
    EXPECT_THROW(std::ignore = parse_hosts(bad), std::invalid_argument) << bad;
  }
  try {
    std::ignore = parse_hosts("good:2,bad:x");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("\"bad:x\""));
  }
}

TEST(HasOption, KnowsOneAndTwoDashes) {
  const std::vector<std::string> args = {"-np", "3", "--bind-to", "core", "np"};
  EXPECT_TRUE(has_option(args, {"np"}));
  EXPECT_TRUE(has_option(args, {"x", "bind-to"}));
  EXPECT_FALSE(has_option(args, {"core"}));
  EXPECT_FALSE(has_option({"np"}, {"np"}));
}

TEST(ReachOf, ThisMachineByAnyOfItsNames) {
  const auto reach = [](std::vector<Host> hosts) {
    return reach_of({.hosts = std::move(hosts)}, "node1.cluster.org", {"HOME=/root"});
  };
  EXPECT_EQ(reach({}), Reach::this_machine);
  EXPECT_EQ(reach({{"localhost", 2}, {"node1", 2}, {"node1.cluster.org", 1}}), Reach::this_machine);
  EXPECT_EQ(reach({{"localhost", 2}, {"node2", 2}}), Reach::listed_hosts);
}

TEST(ReachOf, UnknownWhereSomebodyElseNamesTheHosts) {
  EXPECT_EQ(reach_of({}, "n", {"SLURM_JOB_ID=7"}), Reach::unknown_hosts);
  EXPECT_EQ(reach_of({.mpirun_args = {"--hostfile", "f"}}, "n", {}), Reach::unknown_hosts);
  EXPECT_EQ(reach_of({.hosts = {{"localhost", 1}}}, "n", {"SLURM_JOB_ID=7"}), Reach::this_machine);
}

TEST(OrielVariables, OptionsWinOverExportsOverEnvironment) {
  const JobRequest request = {.fabric = "shm",
                              .exports = {"ORIEL_LOG=info", "ORIEL_DEVICE=rxe0", "OTHER=1"}};
  EXPECT_THAT(
      oriel_variables(request,
                      {"ORIEL_FABRIC=verbs", "ORIEL_LOG=debug", "PATH=/bin", "ORIEL_TEST_X=a=b"}),
      ElementsAre("ORIEL_DEVICE=rxe0", "ORIEL_FABRIC=shm", "ORIEL_LOG=info", "ORIEL_TEST_X=a=b"));
}

TEST(FindVariable, WantsTheWholeName) {
  const std::vector<std::string> environment = {"AB=1", "A=2=3", "C="};
  EXPECT_EQ(find_variable(environment, "A"), "2=3");
  EXPECT_EQ(find_variable(environment, "C"), "");
  EXPECT_EQ(find_variable(environment, "B"), std::nullopt);
}

TEST(PreloadList, KeepsWhatIsThere) {
  EXPECT_EQ(preload_list("/d.so", {}, {}), "/d.so");
  EXPECT_EQ(preload_list("/d.so", {}, {"LD_PRELOAD="}), "/d.so");
  EXPECT_EQ(preload_list("/d.so", {}, {"LD_PRELOAD=/a.so /b.so"}), "/d.so:/a.so /b.so");
  EXPECT_EQ(preload_list("/d.so", {.exports = {"LD_PRELOAD=/c.so"}}, {"LD_PRELOAD=/a.so"}),
            "/d.so:/c.so");
  EXPECT_EQ(preload_list("/d.so", {.exports = {"LD_PRELOAD"}}, {"LD_PRELOAD=/a.so"}),
            "/d.so:/a.so");
}

}  // namespace
}  // namespace oriel::launcher
