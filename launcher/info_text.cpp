#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "launcher/info_report.hpp"
#include "topology/wording.hpp"

namespace oriel::launcher {
namespace {

constexpr std::string_view kDeviceAdvice =
    "  Without a device Oriel works on one machine, through shared memory. A soft device over an\n"
    "  ordinary network interface, for trying things out (as root; needs the package iproute2):\n"
    "    modprobe rdma_rxe\n"
    "    rdma link add rxe0 type rxe netdev {}\n"
    "  In a container, pass the host's device in (--device /dev/infiniband).\n";

std::string field(std::string_view label, std::string_view value) {
  return fmt::format("  {:<20}{}\n", label, value);
}

std::string locked_memory(const ProcessLimits& limits) {
  std::string text = bytes_text(limits.locking.limit_bytes);
  if (limits.locking.limit_bytes) {
    text += limits.locking.may_exceed
                ? ", which this process may exceed (CAP_IPC_LOCK)"
                : "; over RDMA all windows of a rank together must fit (ulimit -l)";
  }
  return text;
}

std::string verdict_text(const FabricVerdict& verdict) {
  return verdict.fabric.empty() ? "nothing works: " + verdict.reason
                                : fmt::format("{}: {}", verdict.fabric, verdict.reason);
}

std::string port_text(const verbs::PortInfo& port) {
  std::string text = fmt::format("    port {}: {}, {}, MTU {} bytes, longest message {}\n",
                                 port.number, port.state, verbs::to_string(port.link_layer),
                                 port.active_mtu_bytes, bytes_text(port.max_message_bytes));
  for (const verbs::GidInfo& gid : port.gids) {
    text += fmt::format("      GID {}: {}  {}{}{}\n", gid.index, verbs::to_string(gid.bytes),
                        verbs::to_string(gid.type), gid.netdev.empty() ? "" : "  on ", gid.netdev);
  }
  return text;
}

std::string device_text(const RdmaFacts& rdma, std::size_t index) {
  const verbs::DeviceInfo& device = rdma.devices[index];
  if (!device.error.empty()) {
    return fmt::format("  {}: cannot be opened: {}\n", device.name, device.error);
  }
  const auto node = rdma.localities[index].numa_node;
  std::string text = fmt::format("  {}: {}{}{}, NUMA node {}, {}\n", device.name, device.transport,
                                 device.driver.empty() ? "" : ", driver ", device.driver,
                                 node ? fmt::to_string(*node) : "unknown",
                                 topology::to_string(rdma.placement.devices[index].distance));
  for (const verbs::PortInfo& port : device.ports) text += port_text(port);
  return text;
}

std::string devices_text(const RdmaFacts& rdma) {
  std::string text = "\nRDMA devices\n";
  for (std::size_t i = 0; i < rdma.devices.size(); ++i) text += device_text(rdma, i);
  if (rdma.devices.empty()) {
    text += "  none\n";
    text += fmt::format(fmt::runtime(kDeviceAdvice), verbs::usable_netdev());
  } else {
    text += fmt::format("  {}\n", rdma.placement.reason);
  }
  return text;
}

}  // namespace

std::string info_text(const InfoReport& report) {
  std::string text = fmt::format("Oriel {} on {}\n\nMachine\n", report.version, report.host);
  text += field("machine", report.machine);
  text += field("usable cores", fmt::format("{} (CPUs {})", report.cores, report.usable_cpus));
  text += field("NUMA nodes", topology::describe_nodes(report.numa_nodes));
  text += field("locked memory", locked_memory(report.limits));
  text += field("open files",
                report.limits.open_files ? fmt::to_string(*report.limits.open_files) : "no limit");
  text += field("cross-memory access",
                fmt::format("{}: {}", report.cross_memory.permitted ? "permitted" : "refused",
                            report.cross_memory.reason));
  text += devices_text(report.rdma);
  text += "\nFabric that ranks would take\n";
  text += field("on one machine", verdict_text(report.on_one_machine));
  text += field("between machines", verdict_text(report.between_machines));
  text += "\nVariables\n";
  if (!report.option_problem.empty()) text += field("problem", report.option_problem);
  bool any = false;
  for (const OptionState& option : report.options) {
    if (option.value) text += field(option.description.name, *option.value);
    any = any || option.value.has_value();
  }
  return text + (any ? "" : "  none is set; `oriel-info --options` lists them\n");
}

std::string options_text(const InfoReport& report) {
  std::string text;
  for (const OptionState& option : report.options) {
    text += fmt::format("{}={}  ({})\n    {}\n    allowed: {}; default: {}\n",
                        option.description.name, option.value.value_or(""),
                        option.value ? "set" : "not set", option.description.meaning,
                        option.description.values, option.description.fallback);
  }
  if (!report.option_problem.empty()) text += report.option_problem + "\n";
  return text;
}

}  // namespace oriel::launcher
