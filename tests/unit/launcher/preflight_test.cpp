#include "launcher/preflight.hpp"

#include <gmock/gmock.h>

namespace oriel::launcher {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

MATCHER_P(Error, text, "") {
  *result_listener << arg.text;
  return arg.fatal && testing::Matches(text)(arg.text);
}
MATCHER_P(Note, text, "") {
  *result_listener << arg.text;
  return !arg.fatal && testing::Matches(text)(arg.text);
}

/// Four cores, a device, no limits: nothing to complain of.
MachineFacts good_machine() {
  return {.host_name = "node1", .usable_cores = 4, .loopback = "lo"};
}

JobRequest job() {
  return {.program = {"./prog"}};
}

JobRequest two_hosts() {
  return {.hosts = {{"node1", 2}, {"node2", 2}}, .program = {"./prog"}};
}

TEST(RanksToStart, AsAskedElseSlotsElseCores) {
  EXPECT_EQ(ranks_to_start(job(), 4), 4U);
  EXPECT_EQ(ranks_to_start({.hosts = {{"a", 2}, {"b", 3}}}, 4), 5U);
  EXPECT_EQ(ranks_to_start({.ranks = 7, .hosts = {{"a", 2}}}, 4), 7U);
}

TEST(Preflight, NothingToSayOfAGoodJob) {
  EXPECT_THAT(preflight(job(), 4, good_machine()), IsEmpty());
  EXPECT_THAT(preflight(two_hosts(), 4, good_machine()), IsEmpty());
}

TEST(Preflight, MissingMpirunNamesThePackage) {
  MachineFacts facts = good_machine();
  facts.has_mpirun = false;
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Error(HasSubstr("openmpi-bin"))));
}

TEST(Preflight, AMissingLoopbackIsANote) {
  MachineFacts facts = good_machine();
  facts.loopback = "";
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Note(HasSubstr("ip link set lo up"))));
  EXPECT_THAT(preflight(two_hosts(), 1, facts), IsEmpty());
}

TEST(Preflight, OtherHostsNeedARemoteShell) {
  MachineFacts facts = good_machine();
  facts.has_remote_shell = false;
  EXPECT_THAT(preflight(job(), 1, facts), IsEmpty());
  EXPECT_THAT(preflight(two_hosts(), 1, facts), ElementsAre(Error(HasSubstr("openssh-client"))));
}

TEST(Preflight, ProgramMustBeExecutable) {
  MachineFacts facts = good_machine();
  facts.program = ProgramState::missing;
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Error(HasSubstr("no program ./prog"))));
  EXPECT_THAT(preflight({.program = {"prog"}}, 1, facts),
              ElementsAre(Error(AllOf(HasSubstr("in PATH"), HasSubstr("write ./prog")))));
  facts.program = ProgramState::directory;
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Error(HasSubstr("is a directory"))));
  facts.program = ProgramState::not_executable;
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Error(HasSubstr("chmod +x ./prog"))));
}

TEST(Preflight, ProgramElsewhereIsNotJudgedHere) {
  MachineFacts facts = good_machine();
  facts.program = ProgramState::missing;
  EXPECT_THAT(preflight({.hosts = {{"node7", 1}}, .program = {"./prog"}}, 1, facts), IsEmpty());
}

TEST(Preflight, TooFewSlotsSayHowManyWouldDo) {
  EXPECT_THAT(preflight(two_hosts(), 7, good_machine()),
              ElementsAre(Error(AllOf(HasSubstr("7 ranks"), HasSubstr("4 slots"),
                                      HasSubstr("--hosts node1:4")))));
  JobRequest request = two_hosts();
  request.mpirun_args = {"--oversubscribe"};
  EXPECT_THAT(preflight(request, 7, good_machine()), IsEmpty());
}

TEST(Preflight, MoreRanksThanCoresIsANote) {
  EXPECT_THAT(preflight(job(), 5, good_machine()),
              ElementsAre(Note(HasSubstr("5 ranks share 4 cores"))));
  JobRequest request = job();
  request.bind = Bind::core;
  EXPECT_THAT(preflight(request, 5, good_machine()), ElementsAre(Error(HasSubstr("--bind core"))));
}

TEST(Preflight, VariablesAreCheckedWithOptionsLaidOver) {
  MachineFacts facts = good_machine();
  facts.environment = {"ORIEL_FABRIK=shm"};
  EXPECT_THAT(preflight(job(), 1, facts), ElementsAre(Error(HasSubstr("ORIEL_FABRIK"))));
  facts.environment = {"ORIEL_FABRIC=ship"};
  EXPECT_THAT(preflight(job(), 1, facts),
              ElementsAre(Error(AllOf(HasSubstr("ship"), HasSubstr("auto|shm|verbs")))));
  JobRequest request = job();
  request.fabric = "shm";
  EXPECT_THAT(preflight(request, 1, facts), IsEmpty());
}

TEST(Preflight, DeviceIsAskedForOnlyWhereItIsNeeded) {
  MachineFacts facts = good_machine();
  facts.device_problem = "the library's words";
  EXPECT_THAT(preflight(job(), 4, facts), IsEmpty());
  JobRequest verbs = job();
  verbs.fabric = "verbs";
  EXPECT_THAT(preflight(verbs, 4, facts), ElementsAre(Error("the library's words")));
  EXPECT_THAT(preflight(two_hosts(), 4, facts), ElementsAre(Error("the library's words")));
  JobRequest elsewhere = verbs;
  elsewhere.hosts = {{"node7", 4}};
  EXPECT_THAT(preflight(elsewhere, 4, facts), IsEmpty());
}

TEST(Preflight, SharedMemoryDoesNotReachTwoMachines) {
  JobRequest request = two_hosts();
  request.fabric = "shm";
  EXPECT_THAT(preflight(request, 4, good_machine()),
              ElementsAre(Error(HasSubstr("one machine only"))));
  request.hosts = {{"node1", 2}, {"localhost", 2}};
  EXPECT_THAT(preflight(request, 4, good_machine()), IsEmpty());
}

TEST(Preflight, LockedMemoryLimitMattersToVerbsOnly) {
  MachineFacts facts = good_machine();
  facts.locking.limit_bytes = 64 * kKiB;
  EXPECT_THAT(preflight(job(), 4, facts), IsEmpty());
  JobRequest verbs = job();
  verbs.fabric = "verbs";
  EXPECT_THAT(preflight(verbs, 4, facts),
              ElementsAre(Error(AllOf(HasSubstr("limit is 64 KiB"), HasSubstr("4 MiB"),
                                      HasSubstr("ulimit -l unlimited")))));
  facts.locking.limit_bytes = 8 * kMiB;
  EXPECT_THAT(preflight(verbs, 4, facts),
              ElementsAre(Note(AllOf(HasSubstr("limit is 8 MiB"), HasSubstr("ulimit -l")))));
  facts.locking.may_exceed = true;
  EXPECT_THAT(preflight(verbs, 4, facts), IsEmpty());
}

TEST(Preflight, TellsEverythingAtOnce) {
  MachineFacts facts = good_machine();
  facts.has_mpirun = false;
  facts.program = ProgramState::missing;
  facts.environment = {"ORIEL_LOG=loud"};
  EXPECT_THAT(preflight(job(), 5, facts),
              ElementsAre(Error(HasSubstr("mpirun")), Error(HasSubstr("./prog")),
                          Error(HasSubstr("ORIEL_LOG")), Note(HasSubstr("cores"))));
}

JobRequest mpi_job() {
  JobRequest request = job();
  request.mpi = true;
  return request;
}

TEST(Preflight, TheDropInMustBeThere) {
  MachineFacts facts = good_machine();
  EXPECT_THAT(preflight(mpi_job(), 4, facts), IsEmpty());
  facts.drop_in.problem = "there is none";
  EXPECT_THAT(preflight(mpi_job(), 4, facts), ElementsAre(Error("there is none")));
  EXPECT_THAT(preflight(job(), 4, facts), IsEmpty());
}

TEST(Preflight, TheDropInIsOfNoUseForAnotherMpi) {
  MachineFacts facts = good_machine();
  facts.drop_in = {.mpi = "libmpi.so.40", .link = MpiLink::other, .program_mpi = "libmpich.so.12"};
  EXPECT_THAT(
      preflight(mpi_job(), 4, facts),
      ElementsAre(Error(AllOf(HasSubstr("./prog is linked"), HasSubstr("libmpich.so.12")))));
  facts.drop_in.link = MpiLink::not_loaded;
  EXPECT_THAT(preflight(mpi_job(), 4, facts), ElementsAre(Error(HasSubstr("statically"))));
}

TEST(Preflight, AProgramWithoutMpiIsNoted) {
  MachineFacts facts = good_machine();
  facts.drop_in.link = MpiLink::none;
  EXPECT_THAT(preflight(mpi_job(), 4, facts), ElementsAre(Note(HasSubstr("not linked"))));
  facts.drop_in.link = MpiLink::script;
  EXPECT_THAT(preflight(mpi_job(), 4, facts), IsEmpty());
}

}  // namespace
}  // namespace oriel::launcher
