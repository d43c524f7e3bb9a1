#include "topology/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oriel::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<DeviceDistance> distances(const Placement& placement) {
  std::vector<DeviceDistance> list;
  for (const DeviceChoice& device : placement.devices) list.push_back(device.distance);
  return list;
}

/// Four nodes of four cores, two to a package; three devices, none in the place its name suggests.
class FourNodes : public testing::Test {
 protected:
  [[nodiscard]] Placement place(std::string_view cpus, unsigned turn = 0) const {
    return choose_placement(machine_, CpuSet::parse(cpus), devices_, turn);
  }

  Topology machine_ = Topology::from_synthetic("pack:2 numa:2 core:4 pu:1");
  std::vector<DeviceLocality> devices_ = {{"mlx5_0", 3}, {"mlx5_1", 0}, {"mlx5_2", 2}};
};

TEST_F(FourNodes, ARankTakesTheDeviceOfItsNode) {
  const Placement placement = place("12");
  EXPECT_EQ(placement.numa_node, 3);
  EXPECT_EQ(placement.device, "mlx5_0");
  EXPECT_THAT(distances(placement),
              ElementsAre(DeviceDistance::same_node, DeviceDistance::other_package,
                          DeviceDistance::same_package));
  EXPECT_EQ(placement.reason,
            "memory: CPUs 12 are on NUMA node 3; device: mlx5_0, same NUMA node, nearest of 3");
}

TEST_F(FourNodes, WithoutADeviceOnItsNodeItsPackageIsNearest) {
  const Placement placement = place("4-7");
  EXPECT_EQ(placement.numa_node, 1);
  EXPECT_EQ(placement.device, "mlx5_1");
  EXPECT_EQ(placement.devices[1].distance, DeviceDistance::same_package);
}

TEST_F(FourNodes, EqualDevicesOfAnotherPackageTakeTurns) {
  devices_ = {{"mlx5_0", 3}, {"mlx5_2", 2}};
  EXPECT_EQ(place("0", 0).device, "mlx5_0");
  EXPECT_EQ(place("1", 1).device, "mlx5_2");
  EXPECT_EQ(place("2", 2).device, "mlx5_0");
  EXPECT_THAT(place("1", 1).reason,
              HasSubstr("mlx5_2, other package, turn 1 takes number 2 of 2 equally near"));
}

TEST_F(FourNodes, ATurnNeverLeadsAwayFromTheNearest) {
  for (unsigned turn = 0; turn < 5; ++turn) EXPECT_EQ(place("8", turn).device, "mlx5_2");
}

TEST_F(FourNodes, ARankAcrossNodesHasNoHomeAndTheDevicesOfAllItsNodes) {
  const Placement placement = place("8-15");
  EXPECT_EQ(placement.numa_node, std::nullopt);
  EXPECT_THAT(distances(placement),
              ElementsAre(DeviceDistance::same_node, DeviceDistance::other_package,
                          DeviceDistance::same_node));
  EXPECT_EQ(place("8-15", 0).device, "mlx5_0");
  EXPECT_EQ(place("8-15", 1).device, "mlx5_2");
  EXPECT_THAT(placement.reason,
              HasSubstr("on NUMA nodes 2,3, so pages stay where they are first touched"));
}

TEST_F(FourNodes, AnUnknownPlaceIsBetweenNearAndFar) {
  devices_ = {{"soft", std::nullopt}, {"mlx5_0", 3}};
  EXPECT_EQ(place("12").device, "mlx5_0") << "same node beats unknown";
  EXPECT_EQ(place("8").device, "mlx5_0") << "same package beats unknown";
  EXPECT_EQ(place("0").device, "soft") << "unknown beats another package";
}

TEST_F(FourNodes, ADeviceOnANodeHiddenFromThisProcessIsFar) {
  devices_ = {{"hidden", 17}, {"mlx5_1", 0}};
  const Placement placement = place("0");
  EXPECT_EQ(placement.devices[0].distance, DeviceDistance::other_package);
  EXPECT_EQ(placement.device, "mlx5_1");
}

TEST_F(FourNodes, DevicesOfUnknownPlaceTakeTurns) {
  devices_ = {{"rxe0", std::nullopt}, {"rxe1", std::nullopt}};
  EXPECT_EQ(place("0", 4).device, "rxe0");
  EXPECT_EQ(place("0", 5).device, "rxe1");
  EXPECT_THAT(place("0", 5).reason, HasSubstr("rxe1, unknown distance"));
}

TEST_F(FourNodes, TheOnlyDeviceIsTakenHoweverFar) {
  devices_ = {{"mlx5_0", 3}};
  EXPECT_EQ(place("0", 7).device, "mlx5_0");
  EXPECT_THAT(place("0", 7).reason, HasSubstr("mlx5_0, other package, the only one"));
}

TEST_F(FourNodes, NoDeviceLeavesTheMemoryDecision) {
  devices_.clear();
  const Placement placement = place("5");
  EXPECT_EQ(placement.numa_node, 1);
  EXPECT_EQ(placement.device, std::nullopt);
  EXPECT_EQ(placement.reason, "memory: CPUs 5 are on NUMA node 1; device: none");
}

TEST_F(FourNodes, CpusThisMachineDoesNotHaveHaveNoHome) {
  const Placement placement = place("100");
  EXPECT_EQ(placement.numa_node, std::nullopt);
  EXPECT_THAT(distances(placement), testing::Each(DeviceDistance::unknown));
  EXPECT_TRUE(placement.device.has_value()) << "any device is better than none";
  EXPECT_THAT(placement.reason, HasSubstr("no NUMA node"));
}

TEST(OneNode, AllRanksShareTheHomeAndSpreadOverItsDevices) {
  const auto machine = Topology::from_synthetic("pack:1 numa:1 core:4 pu:2");
  const std::vector<DeviceLocality> devices = {{"mlx5_0", 0}, {"mlx5_1", 0}, {"mlx5_2", 0}};
  std::vector<std::string> taken;
  for (unsigned rank = 0; rank < 4; ++rank) {
    const auto placement = choose_placement(machine, machine.usable_cpus(), devices, rank);
    EXPECT_EQ(placement.numa_node, 0);
    taken.push_back(placement.device.value_or("none"));
  }
  EXPECT_THAT(taken, ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_0"));
}

}  // namespace
}  // namespace oriel::topology
