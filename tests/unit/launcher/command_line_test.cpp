#include "launcher/command_line.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace oriel::launcher {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

/// Two ranks on two cores of this machine, run by an ordinary user.
Surroundings ordinary() {
  Surroundings surroundings{.ranks = 2, .usable_cores = 2, .loopback = "lo"};
  surroundings.binding.mpirun_words = {"--map-by", "core"};
  surroundings.binding.reason = "a core each";
  return surroundings;
}

JobRequest program() {
  return {.ranks = 2, .program = {"./prog", "-n", "7"}};
}

Words command(const JobRequest& request, const Surroundings& surroundings) {
  return all_words(mpirun_command(request, surroundings));
}

/// Whether `part` stands in `words`, in one piece.
bool holds(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

MATCHER_P(Holds, part, "") {
  return holds(arg, part);
}

TEST(MpirunCommand, TheWholeLineOfAnOrdinaryJob) {
  EXPECT_THAT(command(program(), ordinary()),
              ElementsAre("mpirun", "-np", "2", "--map-by", "core", "--mca", "oob_tcp_if_include",
                          "lo", "--mca", "btl_tcp_if_include", "lo", "--mca", "pml", "ob1", "--mca",
                          "btl", "self,vader,tcp", "--mca", "osc", "^ucx", "--mca",
                          "btl_base_warn_component_unused", "0", "./prog", "-n", "7"));
}

TEST(MpirunCommand, EveryGroupHasAReason) {
  EXPECT_THAT(mpirun_command(program(), ordinary()),
              Each(Field(&WordGroup::reason, Not(IsEmpty()))));
}

TEST(MpirunCommand, RootFlagForRootOnly) {
  Surroundings surroundings = ordinary();
  EXPECT_THAT(command(program(), surroundings), Not(Contains("--allow-run-as-root")));
  surroundings.is_root = true;
  EXPECT_THAT(command(program(), surroundings), Contains("--allow-run-as-root"));
}

TEST(MpirunCommand, OversubscribesOnlyBeyondTheSlots) {
  Surroundings surroundings = ordinary();
  EXPECT_THAT(command(program(), surroundings), Not(Contains("--oversubscribe")));
  surroundings.ranks = 3;
  surroundings.binding.mpirun_words = {"--oversubscribe", "--bind-to", "none"};
  EXPECT_THAT(command(program(), surroundings), Contains("--oversubscribe").Times(1));
  JobRequest request = program();
  request.hosts = {{"localhost", 3}};
  EXPECT_THAT(command(request, surroundings),
              AllOf(Not(Contains("--oversubscribe")), Holds(Words{"--bind-to", "none"})));
  surroundings.ranks = 4;
  EXPECT_THAT(command(request, surroundings), Contains("--oversubscribe"));
}

TEST(MpirunCommand, OtherHostsGetNoLoopbackAndNoBindingOfThisMachine) {
  JobRequest request = program();
  request.hosts = {{"node1", 4}, {"node2", 1}};
  Surroundings surroundings = ordinary();
  surroundings.reach = Reach::listed_hosts;
  const Words words = command(request, surroundings);
  EXPECT_THAT(words, Holds(Words{"--host", "node1:4,node2:1"}));
  EXPECT_THAT(words, AllOf(Not(Contains("lo")), Not(Contains("--map-by"))));
  request.interface = "10.0.0.0/24";
  EXPECT_THAT(command(request, surroundings),
              AllOf(Holds(Words{"--mca", "oob_tcp_if_include", "10.0.0.0/24"}),
                    Holds(Words{"--mca", "btl_tcp_if_include", "10.0.0.0/24"})));
}

TEST(MpirunCommand, BindOptionReplacesThePlan) {
  JobRequest request = program();
  request.bind = Bind::none;
  EXPECT_THAT(command(request, ordinary()),
              AllOf(Holds(Words{"--bind-to", "none"}), Not(Contains("--map-by"))));
  request.bind = Bind::core;
  EXPECT_THAT(command(request, ordinary()), Holds(Words{"--bind-to", "core"}));
}

TEST(MpirunCommand, MpirunArgsWin) {
  JobRequest request = program();
  request.mpirun_args = {"--mca", "btl", "^openib", "--bind-to", "socket", "-np", "9"};
  const auto groups = mpirun_command(request, ordinary());
  const Words words = all_words(groups);
  EXPECT_THAT(words, AllOf(Contains("btl").Times(1), Contains("-np").Times(1),
                           Contains("--bind-to").Times(1), Not(Contains("--map-by"))));
  EXPECT_THAT(words, Holds(Words{"-np", "9", "./prog"}));
  EXPECT_THAT(words, Holds(Words{"--mca", "pml", "ob1"}));
  EXPECT_THAT(groups,
              Contains(AllOf(Field(&WordGroup::words, IsEmpty()),
                             Field(&WordGroup::reason, HasSubstr("no --mca btl: --mpirun-args")))));
}

TEST(MpirunCommand, OpenMpiVariablesWin) {
  Surroundings surroundings = ordinary();
  surroundings.environment = {"OMPI_MCA_pml=ucx", "OMPI_MCA_hwloc_base_binding_policy=none",
                              "OMPI_MCA_btl_tcp_if_exclude=eth1"};
  const Words words = command(program(), surroundings);
  EXPECT_THAT(words, AllOf(Not(Contains("pml")), Not(Contains("--map-by")),
                           Not(Contains("btl_tcp_if_include")), Contains("oob_tcp_if_include")));
}

TEST(MpirunCommand, ExportsOrielVariablesOnceAndOthersAsAsked) {
  JobRequest request = program();
  request.fabric = "verbs";
  request.exports = {"OMP_NUM_THREADS=1", "LD_LIBRARY_PATH", "ORIEL_LOG=info"};
  Surroundings surroundings = ordinary();
  surroundings.environment = {"ORIEL_FABRIC=shm", "ORIEL_LOG=debug", "HOME=/root"};
  const Words words = command(request, surroundings);
  EXPECT_THAT(words, Holds(Words{"-x", "ORIEL_FABRIC=verbs", "-x", "ORIEL_LOG=info", "-x",
                                 "OMP_NUM_THREADS=1", "-x", "LD_LIBRARY_PATH"}));
  EXPECT_THAT(words, Contains("-x").Times(4));
}

TEST(Explain, IsACommandAndComments) {
  const std::string text = explain(mpirun_command(program(), ordinary()));
  EXPECT_THAT(text, StartsWith("mpirun -np 2 "));
  EXPECT_THAT(text, HasSubstr("--mca osc '^ucx'"));
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    EXPECT_EQ(text[at + 1], '#');
  }
}

TEST(MpirunCommand, TheDropInIsForTheRanksAlone) {
  JobRequest request = program();
  request.mpi = true;
  request.exports = {"A=1", "LD_PRELOAD=/tool.so"};
  Surroundings surroundings = ordinary();
  surroundings.drop_in = "/lib/liboriel_mpi.so";
  const Words words = command(request, surroundings);
  EXPECT_THAT(words, Holds(Words{"-x", "LD_PRELOAD=/lib/liboriel_mpi.so:/tool.so"}));
  EXPECT_THAT(words, Holds(Words{"-x", "A=1"}));
  EXPECT_THAT(words, Not(Contains("LD_PRELOAD=/tool.so")));
  request.mpi = false;
  EXPECT_THAT(command(request, surroundings), Contains("LD_PRELOAD=/tool.so"));
}

TEST(MpirunCommand, AnMpiProgramsMessagesTakeTheNetworkThatMpiChooses) {
  JobRequest request = program();
  request.mpi = true;
  Surroundings surroundings = ordinary();
  EXPECT_THAT(command(request, surroundings), Holds(Words{"--mca", "pml", "ob1"}));
  surroundings.reach = Reach::listed_hosts;
  EXPECT_THAT(command(request, surroundings), Not(Contains("pml")));
}

}  // namespace
}  // namespace oriel::launcher
