#include "topology/device_locality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "xml_machine.hpp"

namespace oriel::topology {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// Two packages with a node and a core each; two devices near the second, one near neither.
std::string two_nodes_with_devices() {
  return xml_machine({{}, {1, xml_device(0x80, "mlx5_0", 3) + xml_device(0x81, "eth7", 2)}},
                     xml_device(0x01, "shared_0", 3));
}

/// A sysfs of our own, gone after the test.
class DeviceLocalities : public testing::Test {
 protected:
  DeviceLocalities() {
    std::string path = (fs::temp_directory_path() / "oriel-sysfs-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot create " + path);
    sysfs_ = path;
  }
  ~DeviceLocalities() override {
    std::error_code ignored;
    fs::remove_all(sysfs_, ignored);
  }

  void write(const fs::path& file, std::string_view text) const {
    fs::create_directories((sysfs_ / file).parent_path());
    std::ofstream(sysfs_ / file) << text << '\n';
  }

  [[nodiscard]] std::optional<int> node_of(const std::string& name) const {
    return device_localities(machine_, std::vector{name}, sysfs_).at(0).numa_node;
  }

  fs::path sysfs_;
  Topology machine_ = Topology::from_xml(two_nodes_with_devices());
};

TEST_F(DeviceLocalities, ComeFromHwlocInTheOrderAsked) {
  const std::vector<std::string> names = {"shared_0", "mlx5_0"};
  EXPECT_THAT(device_localities(machine_, names, sysfs_),
              ElementsAre(DeviceLocality{"shared_0", std::nullopt}, DeviceLocality{"mlx5_0", 1}));
}

TEST_F(DeviceLocalities, HwlocOverrulesSysfs) {
  write("class/infiniband/mlx5_0/device/numa_node", "0");
  EXPECT_EQ(node_of("mlx5_0"), 1);
}

TEST_F(DeviceLocalities, AskSysfsForWhatHwlocCannotPinToANode) {
  write("class/infiniband/shared_0/device/numa_node", "1");
  write("class/infiniband/hfi1_0/device/numa_node", "0");
  EXPECT_EQ(node_of("shared_0"), 1);
  EXPECT_EQ(node_of("hfi1_0"), 0);
}

TEST_F(DeviceLocalities, ASoftDeviceIsWhereHwlocSeesItsInterface) {
  write("class/infiniband/rxe0/parent", "eth7");
  EXPECT_EQ(node_of("rxe0"), 1);
}

TEST_F(DeviceLocalities, ASoftDeviceIsWhereSysfsSeesItsInterface) {
  write("class/infiniband/rxe0/parent", "eth1");
  write("class/net/eth1/device/numa_node", "1");
  EXPECT_EQ(node_of("rxe0"), 1);
}

TEST_F(DeviceLocalities, AVirtioInterfaceIsWhereItsPciDeviceIs) {
  write("devices/pci0000:00/0000:00:03.0/numa_node", "0");
  write("devices/pci0000:00/0000:00:03.0/virtio1/device", "0x0001");
  write("class/infiniband/rxe0/parent", "eth0");
  fs::create_directories(sysfs_ / "class/net/eth0");
  fs::create_directory_symlink(sysfs_ / "devices/pci0000:00/0000:00:03.0/virtio1",
                               sysfs_ / "class/net/eth0/device");
  EXPECT_EQ(node_of("rxe0"), 0);
}

TEST_F(DeviceLocalities, AreUnknownIfNobodyKnows) {
  write("class/infiniband/rxe0/parent", "bond0");
  write("class/infiniband/vf0/device/numa_node", "-1");
  EXPECT_EQ(node_of("rxe0"), std::nullopt);
  EXPECT_EQ(node_of("vf0"), std::nullopt);
  EXPECT_EQ(node_of("no_such_device"), std::nullopt);
}

TEST_F(DeviceLocalities, OfNoDevicesAreNone) {
  EXPECT_TRUE(device_localities(machine_, {}, sysfs_).empty());
}

}  // namespace
}  // namespace oriel::topology
