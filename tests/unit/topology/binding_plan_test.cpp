#include "topology/binding_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "xml_machine.hpp"

namespace oriel::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> lists(const BindingPlan& plan) {
  std::vector<std::string> texts;
  for (const CpuSet& cpus : plan.rank_cpus) texts.push_back(cpus.to_string());
  return texts;
}

BindingPlan plan_for(std::string_view machine, unsigned ranks) {
  return plan_binding(Topology::from_synthetic(machine), ranks);
}

TEST(BindingPlan, GivesEachRankOneCoreWhereRanksFillTheMachine) {
  const BindingPlan plan = plan_for("pack:1 numa:1 core:2 pu:2", 2);
  EXPECT_THAT(lists(plan), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(plan.mpirun_words,
              ElementsAre("--map-by", "numa:PE=1", "--rank-by", "core", "--bind-to", "core"));
  EXPECT_EQ(plan.reason, "2 ranks on 2 usable cores: 1 core each, spread over 1 NUMA node");
  EXPECT_TRUE(plan.bound());
  EXPECT_FALSE(plan.oversubscribed);
}

TEST(BindingPlan, SpreadsOverNodesFirstAndSharesTheirCores) {
  const BindingPlan plan = plan_for("pack:2 numa:1 core:8 pu:1", 4);
  EXPECT_THAT(lists(plan), ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_THAT(plan.mpirun_words, testing::Contains("numa:PE=4"));
}

TEST(BindingPlan, LeftOverRanksGoToTheFirstNodesAndAllGetTheSame) {
  const BindingPlan plan = plan_for("numa:4 core:4 pu:1", 5);
  EXPECT_THAT(lists(plan), ElementsAre("0-1", "2-3", "4-5", "8-9", "12-13"));
}

TEST(BindingPlan, FewerRanksThanNodesStayOnOneNodeEach) {
  EXPECT_THAT(lists(plan_for("numa:4 core:4 pu:1", 2)), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(lists(plan_for("numa:4 core:4 pu:1", 1)), ElementsAre("0-3"));
}

TEST(BindingPlan, FollowsTheMachinesOrderNotTheNumbers) {
  const BindingPlan plan = plan_for("numa:2(indexes=1,0) core:2 pu:1(indexes=0,2,1,3)", 4);
  EXPECT_THAT(lists(plan), ElementsAre("0", "2", "1", "3"));
}

TEST(BindingPlan, MoreRanksThanCoresAreNotBound) {
  const BindingPlan plan = plan_for("pack:1 core:2 pu:2", 3);
  EXPECT_THAT(plan.rank_cpus, IsEmpty());
  EXPECT_FALSE(plan.bound());
  EXPECT_TRUE(plan.oversubscribed);
  EXPECT_THAT(plan.mpirun_words, ElementsAre("--oversubscribe", "--bind-to", "none"));
  EXPECT_THAT(plan.reason, HasSubstr("3 ranks on 2 usable cores: oversubscribed"));
}

TEST(BindingPlan, SingleCore) {
  EXPECT_THAT(lists(plan_for("core:1 pu:1", 1)), ElementsAre("0"));
  EXPECT_TRUE(plan_for("core:1 pu:1", 2).oversubscribed);
}

TEST(BindingPlan, RanksInheritAnAffinityMask) {
  const auto machine = Topology::from_synthetic("numa:2 core:4 pu:1", CpuSet::parse("2-3,6"));
  const BindingPlan plan = plan_binding(machine, 3);
  EXPECT_FALSE(plan.bound());
  EXPECT_FALSE(plan.oversubscribed);
  EXPECT_THAT(plan.mpirun_words, ElementsAre("--bind-to", "none"));
  EXPECT_THAT(plan.reason, HasSubstr("affinity mask 2-3,6"));
  EXPECT_TRUE(plan_binding(machine, 4).oversubscribed) << "cores outside the mask do not count";
}

TEST(BindingPlan, NodesWithoutCoresOfTheirOwnMakeRanksGoCoreByCore) {
  const BindingPlan plan = plan_for("pack:2 [numa] [numa] core:2 pu:1", 3);
  EXPECT_THAT(lists(plan), ElementsAre("0", "1", "2"));
  EXPECT_THAT(plan.mpirun_words, ElementsAre("--map-by", "core", "--bind-to", "core"));
  EXPECT_THAT(plan.reason, HasSubstr("NUMA nodes are uneven"));
}

TEST(BindingPlan, UnevenNodesAreSpreadOverWhileTheirCoresLast) {
  const auto machine = Topology::from_xml(xml_machine({{1}, {3}}, ""));
  EXPECT_THAT(lists(plan_binding(machine, 2)), ElementsAre("0", "1"));
  const BindingPlan plan = plan_binding(machine, 3);
  EXPECT_THAT(lists(plan), ElementsAre("0", "1", "2")) << "node 0 has one core, not two";
  EXPECT_THAT(plan.mpirun_words, ElementsAre("--map-by", "core", "--bind-to", "core"));
}

class AnyMachine : public testing::TestWithParam<const char*> {};

TEST_P(AnyMachine, BindsEveryRankToCpusOfItsOwnWithOneHomeUntilCoresRunOut) {
  const auto machine = Topology::from_synthetic(GetParam());
  const auto cores = static_cast<unsigned>(machine.usable_cores().size());
  for (unsigned ranks = 1; ranks <= cores; ++ranks) {
    const BindingPlan plan = plan_binding(machine, ranks);
    ASSERT_EQ(plan.rank_cpus.size(), ranks);
    CpuSet taken;
    for (const CpuSet& cpus : plan.rank_cpus) {
      EXPECT_FALSE(cpus.empty()) << ranks << " ranks";
      EXPECT_FALSE(cpus.intersects(taken)) << ranks << " ranks, " << cpus.to_string();
      EXPECT_EQ(machine.home_nodes(cpus).size(), 1U) << ranks << " ranks, " << cpus.to_string();
      taken = taken | cpus;
    }
    EXPECT_TRUE(machine.usable_cpus().includes(taken));
    const auto homes_used = machine.home_nodes(taken).size();
    EXPECT_EQ(homes_used, std::min<std::size_t>(ranks, machine.numa_nodes().size()));
  }
  EXPECT_FALSE(plan_binding(machine, cores + 1).bound());
}

INSTANTIATE_TEST_SUITE_P(Machines, AnyMachine,
                         testing::Values("core:1 pu:1", "pack:1 numa:1 core:6 pu:2",
                                         "pack:2 numa:2 core:8 pu:2", "pack:2 numa:4 core:3 pu:1",
                                         "numa:3 core:5 pu:4", "numa:2 pu:4"));

}  // namespace
}  // namespace oriel::topology
