#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "launcher/info_report.hpp"

namespace oriel::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

RdmaFacts one_device() {
  const verbs::PortInfo port = {
      .active = true,
      .state = "active",
      .active_mtu_bytes = 1024,
      .max_message_bytes = 1U << 30U,
      .gids = {{.index = 1,
                .bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 77, 0, 1},
                .netdev = "eth7"}}};
  const verbs::DeviceInfo device = {
      .name = "rxe0", .transport = "InfiniBand", .driver = "rdma_rxe", .ports = {port}};
  return {.devices = {device},
          .localities = {{"rxe0", 3}},
          .placement = {.numa_node = 0,
                        .device = "rxe0",
                        .devices = {{"rxe0", topology::DeviceDistance::same_package}},
                        .reason = "the only device"},
          .choice = verbs::DeviceChoice{
              .device = device, .port = port, .gid = port.gids[0], .reason = "rxe0 it is"}};
}

InfoReport report_with(RdmaFacts rdma) {
  InfoReport report{.version = "1.2.3",
                    .host = "node1",
                    .machine = "1 package",
                    .cores = 2,
                    .usable_cpus = "0-1",
                    .numa_nodes = {0},
                    .limits = {.locking = {.limit_bytes = 65536}},
                    .cross_memory = {false, "refused by a test"},
                    .rdma = std::move(rdma)};
  report.on_one_machine = verdict_on_one_machine(base::Fabric::automatic, report.rdma);
  report.between_machines = verdict_between_machines(base::Fabric::automatic, report.rdma);
  for (const auto& description : base::option_descriptions()) {
    report.options.push_back({description, std::nullopt});
  }
  return report;
}

RdmaFacts no_device() {
  return {.problem = "there is none"};
}

TEST(Verdict, AutoTakesSharedMemoryHereAndVerbsBetween) {
  EXPECT_EQ(verdict_on_one_machine(base::Fabric::automatic, one_device()).fabric, "shm");
  const auto between = verdict_between_machines(base::Fabric::automatic, one_device());
  EXPECT_EQ(between.fabric, "verbs");
  EXPECT_THAT(between.reason, HasSubstr("rxe0 it is"));
}

TEST(Verdict, NothingWorksBetweenMachinesWithoutADevice) {
  EXPECT_EQ(verdict_on_one_machine(base::Fabric::automatic, no_device()).fabric, "shm");
  for (const auto fabric : {base::Fabric::automatic, base::Fabric::verbs}) {
    const auto verdict = verdict_between_machines(fabric, no_device());
    EXPECT_EQ(verdict.fabric, "");
    EXPECT_EQ(verdict.reason, "there is none");
  }
  EXPECT_EQ(verdict_between_machines(base::Fabric::shm, one_device()).fabric, "");
  EXPECT_EQ(verdict_on_one_machine(base::Fabric::verbs, no_device()).fabric, "");
  EXPECT_EQ(verdict_on_one_machine(base::Fabric::verbs, one_device()).fabric, "verbs");
}

TEST(InfoText, ShowsADeviceWithItsPortsAndDistance) {
  EXPECT_THAT(
      info_text(report_with(one_device())),
      AllOf(HasSubstr("Oriel 1.2.3 on node1"), HasSubstr("64 KiB"), HasSubstr("refused by a test"),
            HasSubstr("rxe0: InfiniBand, driver rdma_rxe, NUMA node 3, same package"),
            HasSubstr("port 1: active, "), HasSubstr("MTU 1024 bytes, longest message 1 GiB"),
            HasSubstr("GID 1: ::ffff:10.77.0.1"), HasSubstr("on eth7"),
            Not(HasSubstr("modprobe"))));
}

TEST(InfoText, WithoutADeviceSaysHowToGetOne) {
  EXPECT_THAT(
      info_text(report_with(no_device())),
      AllOf(HasSubstr("modprobe rdma_rxe\n"), HasSubstr("rdma link add rxe0 type rxe netdev ")));
}

TEST(InfoText, ADeviceThatCannotBeOpenedSaysWhy) {
  RdmaFacts rdma = one_device();
  rdma.devices[0].error = "Permission denied";
  EXPECT_THAT(info_text(report_with(rdma)), HasSubstr("rxe0: cannot be opened: Permission denied"));
}

TEST(OptionsText, ListsEveryVariableWithItsValue) {
  InfoReport report = report_with(no_device());
  report.options[0].value = "verbs";
  const std::string text = options_text(report);
  EXPECT_THAT(text, HasSubstr("ORIEL_FABRIC=verbs  (set)"));
  for (const auto& description : base::option_descriptions()) {
    EXPECT_THAT(text, HasSubstr(std::string(description.name)));
  }
}

TEST(InfoJson, HasTheDocumentedKeys) {
  const Json json = Json::parse(info_json(report_with(one_device())));
  for (const char* key : {"version", "host", "machine", "limits", "cross_memory_access", "devices",
                          "device_choice", "fabric", "options", "option_problem"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.at("limits").at("locked_memory_bytes"), 65536);
  EXPECT_TRUE(json.at("limits").at("open_files").is_null());
  const Json& device = json.at("devices").at(0);
  EXPECT_EQ(device.at("numa_node"), 3);
  EXPECT_EQ(device.at("distance"), "same package");
  EXPECT_EQ(device.at("ports").at(0).at("gids").at(0).at("gid"), "::ffff:10.77.0.1");
  EXPECT_EQ(json.at("device_choice").at("gid_index"), 1);
  EXPECT_EQ(json.at("fabric").at("between_machines").at("fabric"), "verbs");
  EXPECT_EQ(json.at("options").size(), base::option_descriptions().size());
  EXPECT_TRUE(json.at("options").at(0).at("value").is_null());
}

TEST(InfoJson, WithoutADeviceIsValidToo) {
  const Json json = Json::parse(info_json(report_with(no_device())));
  EXPECT_TRUE(json.at("devices").empty());
  EXPECT_TRUE(json.at("device_choice").at("device").is_null());
  EXPECT_TRUE(json.at("fabric").at("between_machines").at("fabric").is_null());
}

TEST(InfoJson, SurvivesAHostNameThatIsNotText) {
  InfoReport report = report_with(no_device());
  report.host = "n\xff";
  EXPECT_TRUE(Json::accept(info_json(report)));
}

}  // namespace
}  // namespace oriel::launcher
