#include "runtime/path_plan.hpp"

#include <gmock/gmock.h>

#include <oriel/error.hpp>

namespace oriel::runtime {
namespace {

using base::Fabric;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Locality> kOneHost(4, {1, "a"});
const std::vector<Locality> kTwoHosts = {{1, "a"}, {2, "b"}, {1, "a"}, {2, "b"}};

TEST(PathPlan, OneMachineIsSharedMemoryAlone) {
  const PathPlan plan = plan_paths(kOneHost, 2, Fabric::automatic, 1);
  EXPECT_THAT(plan.path, testing::Each(Path::shm));
  EXPECT_FALSE(plan.needs_verbs);
  EXPECT_THAT(plan.reason, HasSubstr("shared memory alone"));
}

TEST(PathPlan, VerbsForcesEveryPeerAndOneself) {
  const PathPlan plan = plan_paths(kOneHost, 2, Fabric::verbs, 1);
  EXPECT_THAT(plan.path, testing::Each(Path::verbs));
  EXPECT_TRUE(plan.needs_verbs);
}

TEST(PathPlan, TwoMachinesAreMixed) {
  const PathPlan plan = plan_paths(kTwoHosts, 1, Fabric::automatic, 1);
  EXPECT_THAT(plan.path, ElementsAre(Path::verbs, Path::shm, Path::verbs, Path::shm));
  EXPECT_THAT(plan.node, ElementsAre(0, 1, 0, 1));
  EXPECT_TRUE(plan.needs_verbs);
}

TEST(PathPlan, FakeNodesCutEachMachineIntoBlocks) {
  EXPECT_THAT(plan_paths(kOneHost, 0, Fabric::automatic, 2).node, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(plan_paths(kTwoHosts, 0, Fabric::automatic, 2).node, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(plan_paths(kOneHost, 0, Fabric::automatic, 8).node, ElementsAre(0, 1, 2, 3));
}

TEST(PathPlan, SharedMemoryAcrossMachinesIsRefusedAndNamesTheHosts) {
  try {
    [[maybe_unused]] const auto plan = plan_paths(kTwoHosts, 0, Fabric::shm, 1);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), HasSubstr("2 machines (a, b)"));
  }
}

}  // namespace
}  // namespace oriel::runtime
