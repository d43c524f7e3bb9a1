#include "topology/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace oriel::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SyntheticTopology, CountsNodesCoresAndThreads) {
  const auto machine = Topology::from_synthetic("pack:2 numa:2 core:8 pu:2");
  EXPECT_EQ(machine.usable_cpus().to_string(), "0-63");
  EXPECT_TRUE(machine.all_cpus_usable());
  EXPECT_EQ(machine.usable_cores().size(), 32U);
  EXPECT_EQ(machine.usable_cores().at(1).to_string(), "2-3");
  EXPECT_THAT(machine.numa_nodes(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(machine.describe(), "2 packages, 4 NUMA nodes, 32 cores, 64 PUs usable");
}

TEST(SyntheticTopology, SingleCore) {
  const auto machine = Topology::from_synthetic("pack:1 numa:1 core:1 pu:1");
  EXPECT_EQ(machine.describe(), "1 package, 1 NUMA node, 1 core, 1 PU usable");
}

TEST(SyntheticTopology, ThreadsCountAsCoresWhereCoresAreUnknown) {
  const auto machine = Topology::from_synthetic("numa:1 pu:3");
  EXPECT_EQ(machine.usable_cores().size(), 3U);
}

TEST(SyntheticTopology, MaskLimitsWhatIsUsable) {
  const auto machine = Topology::from_synthetic("pack:2 core:4 pu:2", CpuSet::parse("1,4-5,99"));
  EXPECT_EQ(machine.usable_cpus().to_string(), "1,4-5");
  EXPECT_FALSE(machine.all_cpus_usable());
  const auto cores = machine.usable_cores();
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].to_string(), "1") << "half a core is a core, with the half that may be used";
  EXPECT_EQ(cores[1].to_string(), "4-5");
  EXPECT_THAT(machine.describe(),
              HasSubstr("2 cores, 3 PUs usable (affinity mask 1,4-5 of 16 PUs)"));
}

TEST(SyntheticTopology, MaskOutsideTheMachineIsAnError) {
  try {
    Topology::from_synthetic("core:2 pu:1", CpuSet::parse("7"));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("(7) is in the topology (0-1)"));
  }
}

TEST(SyntheticTopology, NonsenseIsNamedInTheError) {
  try {
    Topology::from_synthetic("two big boxes");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("two big boxes"));
  }
}

TEST(XmlTopology, NonsenseIsAnError) {
  EXPECT_THROW(Topology::from_xml("<topology"), std::runtime_error);
}

TEST(HomeNodes, FollowTheCpus) {
  const auto machine = Topology::from_synthetic("pack:2 numa:2 core:2 pu:1");
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("2")), ElementsAre(1));
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("1-6")), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(machine.home_nodes(CpuSet()), IsEmpty());
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("99")), IsEmpty());
}

TEST(HomeNodes, CarryTheKernelsNumbers) {
  const auto machine = Topology::from_synthetic("numa:2(indexes=5,3) core:2 pu:1");
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("0")), ElementsAre(5));
  EXPECT_THAT(machine.numa_nodes(), ElementsAre(3, 5));
}

TEST(HomeNodes, AreDramWhereHighBandwidthMemorySharesTheCores) {
  const auto machine = Topology::from_synthetic("pack:2 [numa] [numa] core:2 pu:1");
  ASSERT_EQ(machine.numa_nodes().size(), 4U);
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("0-1")), ElementsAre(0));
  EXPECT_THAT(machine.home_nodes(CpuSet::parse("0-3")), ElementsAre(0, 2));
}

TEST(HomeNodes, LeaveOutMemoryOfTheWholeMachineWhereNearerOneExists) {
  const auto machine = Topology::from_synthetic("[numa] pack:2 [numa] core:2 pu:1");
  ASSERT_EQ(machine.numa_nodes().size(), 3U);
  EXPECT_EQ(machine.home_nodes(CpuSet::parse("0-1")).size(), 1U);
}

TEST(InOnePackage, ComparesThePackagesOfTwoNodes) {
  const auto machine = Topology::from_synthetic("pack:2 numa:2 core:1 pu:1");
  EXPECT_TRUE(machine.in_one_package(0, 1));
  EXPECT_FALSE(machine.in_one_package(1, 2));
  EXPECT_FALSE(machine.in_one_package(0, 9));
  EXPECT_FALSE(machine.in_one_package(9, 9));
  EXPECT_FALSE(machine.in_one_package(-1, -1));
}

class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~ScopedEnvironment() { ::unsetenv(name_); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const char* name_;
};

TEST(Discover, ObeysHwlocsEnvironment) {
  if (std::getenv("HWLOC_XMLFILE") != nullptr) GTEST_SKIP() << "HWLOC_XMLFILE is set";
  const ScopedEnvironment synthetic("HWLOC_SYNTHETIC", "pack:3 numa:1 core:5 pu:1");
  EXPECT_EQ(Topology::discover().describe(), "3 packages, 3 NUMA nodes, 15 cores, 15 PUs usable");
}

TEST(Discover, UsesWhatTheAffinityMaskAllows) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) GTEST_SKIP() << "more than 1024 CPUs";
  const auto machine = Topology::discover();
  EXPECT_EQ(machine.usable_cpus().count(), static_cast<unsigned>(CPU_COUNT(&mask)));
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    EXPECT_EQ(machine.usable_cpus().contains(cpu), CPU_ISSET(cpu, &mask) != 0) << "CPU " << cpu;
  }
  EXPECT_FALSE(machine.home_nodes(machine.usable_cpus()).empty());
}

TEST(Discover, SeesTheWholeProcessFromAPinnedThread) {
  const auto before = Topology::discover().usable_cpus();
  if (before.count() < 2) GTEST_SKIP() << "needs two CPUs, may use " << before.to_string();
  CpuSet seen;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    unsigned cpu = 0;
    while (!before.contains(cpu)) ++cpu;
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    seen = Topology::discover().usable_cpus();
  }).join();
  EXPECT_EQ(seen, before);
}

}  // namespace
}  // namespace oriel::topology
