#include "topology/process_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "topology/topology.hpp"

namespace oriel::topology {
namespace {

namespace fs = std::filesystem;

CpuSet only_one_of(const CpuSet& cpus) {
  unsigned cpu = 0;
  while (!cpus.contains(cpu)) ++cpu;
  return CpuSet::parse(std::to_string(cpu));
}

void pin_this_thread_to(const CpuSet& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (cpus.contains(cpu)) CPU_SET(cpu, &mask);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof mask, &mask), 0);
}

TEST(ProcessCpus, AreTheOnesThatTheWholeTopologyCallsUsable) {
  EXPECT_FALSE(process_cpus().empty());
  EXPECT_EQ(process_cpus(), Topology::discover().usable_cpus());
}

TEST(ProcessCpus, AreThoseOfAllThreadsForAPinnedOne) {
  const CpuSet before = process_cpus();
  if (before.count() < 2) GTEST_SKIP() << "needs two CPUs, may use " << before.to_string();
  CpuSet seen;
  std::thread([&] {
    pin_this_thread_to(only_one_of(before));
    seen = process_cpus();
  }).join();
  EXPECT_EQ(seen, before);
}

TEST(ProcessCpus, ShrinkWithTheMaskOfTheProcess) {
  const CpuSet before = process_cpus();
  if (before.count() < 2) GTEST_SKIP() << "needs two CPUs, may use " << before.to_string();
  const CpuSet one = only_one_of(before);
  pin_this_thread_to(one);
  EXPECT_EQ(process_cpus(), one);
  pin_this_thread_to(before);
}

class HasSeveralNumaNodes : public testing::Test {
 protected:
  HasSeveralNumaNodes() {
    std::string path = (fs::temp_directory_path() / "oriel-sysfs-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    sysfs_ = path;
  }
  ~HasSeveralNumaNodes() override {
    std::error_code ignored;
    fs::remove_all(sysfs_, ignored);
  }

  [[nodiscard]] bool with_online(std::string_view list) const {
    fs::create_directories(sysfs_ / "devices/system/node");
    std::ofstream(sysfs_ / "devices/system/node/online") << list << '\n';
    return has_several_numa_nodes(sysfs_);
  }

  fs::path sysfs_;
};

TEST_F(HasSeveralNumaNodes, CountsThoseThatAreOnline) {
  EXPECT_FALSE(with_online("0"));
  EXPECT_FALSE(with_online("3"));
  EXPECT_TRUE(with_online("0-1"));
  EXPECT_TRUE(with_online("0,2"));
}

TEST_F(HasSeveralNumaNodes, TakesAMachineThatDoesNotTellForOneNode) {
  EXPECT_FALSE(has_several_numa_nodes(sysfs_));
  EXPECT_FALSE(with_online(""));
  EXPECT_FALSE(with_online("what?"));
}

TEST(HasSeveralNumaNodesHere, AgreesWithTheWholeTopology) {
  EXPECT_GE(static_cast<int>(has_several_numa_nodes()),
            static_cast<int>(Topology::discover().numa_nodes().size() > 1));
}

}  // namespace
}  // namespace oriel::topology
