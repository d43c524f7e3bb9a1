#include "transport/verbs/device_choice.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <initializer_list>

#include <oriel/error.hpp>

namespace oriel::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kV1 = GidType::roce_v1;
constexpr auto kV2 = GidType::roce_v2;

GidInfo gid(int index, GidType type, const char* address) {
  GidInfo info{.index = index, .bytes = {}, .type = type, .netdev = "eth1"};
  EXPECT_EQ(inet_pton(AF_INET6, address, info.bytes.data()), 1) << address;
  return info;
}

PortInfo ethernet(std::vector<GidInfo> gids, int number = 1) {
  return {.number = number,
          .active = true,
          .state = "active",
          .link_layer = LinkLayer::ethernet,
          .active_mtu_bytes = 4096,
          .max_message_bytes = 8U << 20U,
          .lid = 0,
          .gids = std::move(gids)};
}

PortInfo down(PortInfo port) {
  port.active = false;
  port.state = "down";
  return port;
}

PortInfo infiniband(int number = 1) {
  PortInfo port = ethernet({gid(0, GidType::ib, "fe80::2")}, number);
  port.link_layer = LinkLayer::infiniband;
  port.lid = 7;
  port.ip_over_ib = "10.1.0.7";
  return port;
}

DeviceInfo device(std::string name, std::vector<PortInfo> ports) {
  return {.name = std::move(name),
          .transport = "InfiniBand",
          .driver = "mlx5_core",
          .atomics = transport::AtomicScope::device,
          .limits = {},
          .ports = std::move(ports)};
}

PortInfo good_port(int number = 1) {
  return ethernet({gid(0, kV2, "fe80::1"), gid(1, kV2, "::ffff:10.77.0.1")}, number);
}

std::string address_text(const DeviceChoice& choice) {
  char text[INET6_ADDRSTRLEN] = {};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  std::memcpy(&v4, &choice.local_address, sizeof v4);
  std::memcpy(&v6, &choice.local_address, sizeof v6);
  const void* bytes = v4.sin_family == AF_INET ? static_cast<const void*>(&v4.sin_addr)
                                               : static_cast<const void*>(&v6.sin6_addr);
  return inet_ntop(v4.sin_family, bytes, text, sizeof text);
}

std::string refusal(const std::vector<DeviceInfo>& devices, const base::Options& options = {}) {
  try {
    const auto choice = choose_device(devices, options, "", "eth7");
    return "accepted: " + choice.reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    return error.what();
  }
}

// ---- GIDs: tables of other people's machines ----------------------------------------------------

TEST(GidChoice, SkipsLinkLocalAndVersionOne) {
  const auto port = ethernet({gid(0, kV1, "fe80::1"), gid(1, kV2, "fe80::1"),
                              gid(2, kV1, "::ffff:10.0.0.1"), gid(3, kV2, "::ffff:10.0.0.1")});
  EXPECT_EQ(choose_gid(port, {})->index, 3);
}

TEST(GidChoice, FindsVersionTwoAtZeroOrOne) {
  EXPECT_EQ(
      choose_gid(ethernet({gid(0, kV2, "fe80::1"), gid(1, kV2, "::ffff:10.0.0.1")}), {})->index, 1);
  EXPECT_EQ(
      choose_gid(ethernet({gid(0, kV2, "::ffff:10.0.0.1"), gid(1, kV2, "fe80::1")}), {})->index, 0);
}

TEST(GidChoice, FindsVersionTwoAtOneOrThree) {
  const auto port = ethernet({gid(0, kV1, "fe80::1"), gid(1, kV2, "::ffff:10.0.0.1"),
                              gid(2, kV1, "::ffff:10.0.0.1"), gid(3, kV2, "fe80::1")});
  EXPECT_EQ(choose_gid(port, {})->index, 1);
}

TEST(GidChoice, TakesGlobalIpv6WhenThereIsNothingElse) {
  const auto port = ethernet({gid(0, kV1, "fe80::1"), gid(1, kV2, "fe80::1"),
                              gid(2, kV1, "fd93::1"), gid(3, kV2, "fd93::1")});
  EXPECT_EQ(choose_gid(port, {})->index, 3);
}

TEST(GidChoice, PrefersIpv4ToGlobalIpv6WhateverTheOrder) {
  const auto port =
      ethernet({gid(0, kV2, "fe80::1"), gid(1, kV2, "fd93::1"), gid(2, kV2, "::ffff:10.0.0.1")});
  EXPECT_EQ(choose_gid(port, {})->index, 2);
}

TEST(GidChoice, LinkLocalAloneIsNotUsable) {
  EXPECT_FALSE(
      choose_gid(ethernet({gid(0, kV2, "fe80::1"), gid(1, kV2, "::ffff:169.254.3.4")}), {}));
}

TEST(GidChoice, TheOverrideTakesWhatItNames) {
  const auto port = good_port();
  EXPECT_EQ(choose_gid(port, 0)->index, 0);
  EXPECT_FALSE(choose_gid(port, 5));
}

// ---- devices and ports --------------------------------------------------------------------------

TEST(DeviceChoice, GivesTheAddressBehindTheGidAndSaysWhy) {
  const auto choice = choose_device(std::vector{device("rxe0", {good_port()})}, {}, "");
  EXPECT_EQ(choice.where(), "rxe0 port 1");
  EXPECT_EQ(choice.gid.index, 1);
  EXPECT_EQ(address_text(choice), "10.77.0.1");
  EXPECT_THAT(choice.reason, AllOf(HasSubstr("rxe0 port 1"), HasSubstr("GID 1"),
                                   HasSubstr("::ffff:10.77.0.1"), HasSubstr("IPv4")));
}

TEST(DeviceChoice, Ipv6AddressIsGivenAsIpv6) {
  const auto choice =
      choose_device(std::vector{device("rxe0", {ethernet({gid(1, kV2, "fd00:77::1")})})}, {}, "");
  EXPECT_EQ(address_text(choice), "fd00:77::1");
}

TEST(DeviceChoice, TakesTheNearestDeviceIfItCanBeUsed) {
  const std::vector devices = {device("mlx5_0", {good_port()}), device("mlx5_1", {good_port()})};
  EXPECT_EQ(choose_device(devices, {}, "mlx5_1").device.name, "mlx5_1");
  EXPECT_EQ(choose_device(devices, {}, "").device.name, "mlx5_0");
  const std::vector broken = {device("mlx5_0", {good_port()}),
                              device("mlx5_1", {down(good_port())})};
  EXPECT_EQ(choose_device(broken, {}, "mlx5_1").device.name, "mlx5_0");
}

TEST(DeviceChoice, OfFourDevicesOfBothKindsTakesOneThatIsUp) {
  const std::vector devices = {device("ib_down", {down(infiniband())}),
                               device("eth_down", {down(good_port())}),
                               device("ib_up", {infiniband()}), device("eth_up", {good_port()})};
  EXPECT_EQ(choose_device(devices, {}, "").device.name, "ib_up");
  EXPECT_EQ(choose_device(devices, {}, "eth_up").device.name, "eth_up");
  EXPECT_EQ(choose_device(devices, {}, "eth_down").device.name, "ib_up");
}

TEST(DeviceChoice, InfiniBandTakesIndexZeroAndTheAddressOverIt) {
  const auto choice = choose_device(std::vector{device("mlx5_0", {infiniband()})}, {}, "");
  EXPECT_EQ(choice.gid.index, 0);
  EXPECT_EQ(address_text(choice), "10.1.0.7");
}

TEST(DeviceChoice, InfiniBandWithoutAnAddressIsRefused) {
  PortInfo port = infiniband();
  port.ip_over_ib.clear();
  EXPECT_THAT(refusal({device("mlx5_0", {port})}), HasSubstr("no IP-over-InfiniBand address"));
}

TEST(DeviceChoice, PortTwoAloneIsActive) {
  const std::vector devices = {device("mlx5_0", {down(good_port(1)), good_port(2)})};
  EXPECT_EQ(choose_device(devices, {}, "").port.number, 2);
}

TEST(DeviceChoice, KeepsTheMtuOfThePort) {
  PortInfo port = good_port();
  port.active_mtu_bytes = 1024;
  EXPECT_EQ(choose_device(std::vector{device("rxe0", {port})}, {}, "").port.active_mtu_bytes,
            1024U);
}

TEST(DeviceChoice, OverridesNameDeviceAndPort) {
  const std::vector devices = {device("mlx5_0", {good_port()}),
                               device("mlx5_1", {good_port(1), good_port(2)})};
  base::Options options;
  options.device = "mlx5_1";
  EXPECT_EQ(choose_device(devices, options, "mlx5_0").where(), "mlx5_1 port 1");
  options.device = "mlx5_1:2";
  EXPECT_EQ(choose_device(devices, options, "mlx5_0").where(), "mlx5_1 port 2");
  options.gid_index = 0;
  const auto choice = choose_device(devices, options, "");
  EXPECT_EQ(choice.gid.index, 0);
  EXPECT_THAT(choice.reason, AllOf(HasSubstr("ORIEL_DEVICE"), HasSubstr("ORIEL_GID_INDEX")));
}

// ---- refusals: what was looked at, why not, and what to do --------------------------------------

TEST(DeviceRefusal, NoDeviceNamesTheTwoCommands) {
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("there are none"), HasSubstr("modprobe rdma_rxe"),
                                 HasSubstr("rdma link add rxe0 type rxe netdev eth7")));
}

TEST(DeviceRefusal, PortDown) {
  EXPECT_THAT(refusal({device("mlx5_0", {down(good_port())})}),
              AllOf(HasSubstr("mlx5_0 port 1: the port is down"), HasSubstr("ip link set")));
}

TEST(DeviceRefusal, NoPermission) {
  DeviceInfo closed;
  closed.name = "mlx5_0";
  closed.error = "Permission denied (errno 13)";
  EXPECT_THAT(refusal({closed}), AllOf(HasSubstr("mlx5_0: cannot be opened: Permission denied"),
                                       HasSubstr("/dev/infiniband/uverbs")));
}

TEST(DeviceRefusal, NoAtomics) {
  DeviceInfo without = device("siw0", {good_port()});
  without.atomics = transport::AtomicScope::none;
  without.transport = "iWARP";
  EXPECT_THAT(refusal({without}),
              AllOf(HasSubstr("siw0 port 1: the device has no atomics"), HasSubstr("iWARP")));
}

TEST(DeviceRefusal, NoUsableGidShowsTheTableAndHowToAddAnAddress) {
  EXPECT_THAT(refusal({device("rxe0", {ethernet({gid(0, kV2, "fe80::1")})})}),
              AllOf(HasSubstr("rxe0 port 1: no usable GID"), HasSubstr("0: RoCE v2 fe80::1"),
                    HasSubstr("ip addr add"), HasSubstr("dev eth1")));
}

TEST(DeviceRefusal, AWrongOverrideNamesWhatExists) {
  base::Options options;
  options.device = "mlx5_7";
  const std::vector devices = {device("rxe0", {good_port()}),
                               device("mlx5_1", {good_port(1), good_port(2)})};
  EXPECT_THAT(refusal(devices, options),
              AllOf(HasSubstr("ORIEL_DEVICE=mlx5_7"), HasSubstr("rxe0:1, mlx5_1:1, mlx5_1:2")));
  options.device = "rxe0:2";
  EXPECT_THAT(refusal(devices, options), HasSubstr("rxe0:1, mlx5_1:1, mlx5_1:2"));
  options.device.clear();
  options.gid_index = 9;
  EXPECT_THAT(refusal({device("rxe0", {good_port()})}, options),
              AllOf(HasSubstr("no GID at index 9"), HasSubstr("ORIEL_GID_INDEX")));
}

TEST(DeviceRefusal, EveryPortIsListedAndTheHintIsAboutTheClosest) {
  const auto text = refusal(
      {device("a", {down(good_port())}), device("b", {ethernet({gid(0, kV2, "fe80::1")})})});
  EXPECT_THAT(text, AllOf(HasSubstr("a port 1: the port is down"), HasSubstr("b port 1: no usable"),
                          HasSubstr("ip addr add"), Not(HasSubstr("ip link set"))));
}

}  // namespace
}  // namespace oriel::verbs
