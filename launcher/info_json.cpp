#include <nlohmann/json.hpp>

#include <optional>
#include <string>

#include "launcher/info_report.hpp"

namespace oriel::launcher {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json nullable(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json port_json(const verbs::PortInfo& port) {
  Json gids = Json::array();
  for (const verbs::GidInfo& gid : port.gids) {
    gids.push_back({{"index", gid.index},
                    {"gid", verbs::to_string(gid.bytes)},
                    {"type", verbs::to_string(gid.type)},
                    {"netdev", gid.netdev}});
  }
  return {{"number", port.number},
          {"active", port.active},
          {"state", port.state},
          {"link_layer", verbs::to_string(port.link_layer)},
          {"active_mtu_bytes", port.active_mtu_bytes},
          {"max_message_bytes", port.max_message_bytes},
          {"gids", std::move(gids)}};
}

Json device_json(const RdmaFacts& rdma, std::size_t index) {
  const verbs::DeviceInfo& device = rdma.devices[index];
  Json ports = Json::array();
  for (const verbs::PortInfo& port : device.ports) ports.push_back(port_json(port));
  return {{"name", device.name},
          {"error", device.error},
          {"transport", device.transport},
          {"driver", device.driver},
          {"numa_node", nullable(rdma.localities[index].numa_node)},
          {"distance", topology::to_string(rdma.placement.devices[index].distance)},
          {"ports", std::move(ports)}};
}

Json choice_json(const RdmaFacts& rdma) {
  if (!rdma.choice) return {{"device", nullptr}, {"reason", rdma.problem}};
  return {{"device", rdma.choice->device.name},
          {"port", rdma.choice->port.number},
          {"gid_index", rdma.choice->gid.index},
          {"reason", rdma.choice->reason}};
}

Json verdict_json(const FabricVerdict& verdict) {
  return {{"fabric", verdict.fabric.empty() ? Json(nullptr) : Json(verdict.fabric)},
          {"reason", verdict.reason}};
}

}  // namespace

std::string info_json(const InfoReport& report) {
  Json devices = Json::array();
  for (std::size_t i = 0; i < report.rdma.devices.size(); ++i) {
    devices.push_back(device_json(report.rdma, i));
  }
  Json options = Json::array();
  for (const OptionState& option : report.options) {
    options.push_back({{"name", option.description.name},
                       {"value", nullable(option.value)},
                       {"allowed", option.description.values},
                       {"default", option.description.fallback},
                       {"meaning", option.description.meaning}});
  }
  const Json json = {
      {"version", report.version},
      {"host", report.host},
      {"machine",
       {{"description", report.machine},
        {"usable_cores", report.cores},
        {"usable_cpus", report.usable_cpus},
        {"numa_nodes", report.numa_nodes}}},
      {"limits",
       {{"locked_memory_bytes", nullable(report.limits.locking.limit_bytes)},
        {"may_exceed_locked_memory", report.limits.locking.may_exceed},
        {"open_files", nullable(report.limits.open_files)}}},
      {"cross_memory_access",
       {{"permitted", report.cross_memory.permitted}, {"reason", report.cross_memory.reason}}},
      {"devices", std::move(devices)},
      {"device_choice", choice_json(report.rdma)},
      {"fabric",
       {{"on_one_machine", verdict_json(report.on_one_machine)},
        {"between_machines", verdict_json(report.between_machines)}}},
      {"options", std::move(options)},
      {"option_problem", report.option_problem}};
  // A host name or variable need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oriel::launcher
