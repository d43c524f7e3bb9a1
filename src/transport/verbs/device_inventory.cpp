#include "transport/verbs/device_inventory.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/throw_error.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxGids = 1024;  // more than that nobody looks through

std::string driver_of(const std::string& device) {
  std::error_code none;
  const fs::path root = fs::path("/sys/class/infiniband") / device;
  const fs::path link = fs::read_symlink(root / "device/driver", none);
  if (!none) return link.filename().string();
  return fs::exists(root / "parent", none) && device.starts_with("rxe") ? "rdma_rxe" : "";
}

std::string state_text(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
      return "initialising";
    case IBV_PORT_ARMED:
      return "armed";
    case IBV_PORT_ACTIVE:
      return "active";
    case IBV_PORT_ACTIVE_DEFER:
      return "deferred";
    case IBV_PORT_NOP:
      break;
  }
  return "unknown";
}

std::string netdev_name(std::uint32_t index) {
  char name[IF_NAMESIZE] = {};
  return index != 0 && ::if_indextoname(index, name) != nullptr ? name : "";
}

GidInfo gid_info(const ibv_gid_entry& entry) {
  GidInfo info;
  info.index = static_cast<int>(entry.gid_index);
  std::ranges::copy(entry.gid.raw, info.bytes.begin());
  info.type = entry.gid_type == IBV_GID_TYPE_IB        ? GidType::ib
              : entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? GidType::roce_v1
                                                       : GidType::roce_v2;
  info.netdev = netdev_name(entry.ndev_ifindex);
  return info;
}

/// The table in one call where the kernel can, entry by entry where it cannot.
std::vector<ibv_gid_entry> gid_entries(ibv_context* context, std::uint32_t port,
                                       std::uint32_t table_length) {
  std::vector<ibv_gid_entry> entries(kMaxGids);
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  if (count >= 0) {
    entries.resize(static_cast<std::size_t>(count));
    std::erase_if(entries, [&](const ibv_gid_entry& entry) { return entry.port_num != port; });
    return entries;
  }
  entries.clear();
  for (std::uint32_t index = 0; index < std::min(table_length, kMaxGids); ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, port, index, &entry, 0) == 0) entries.push_back(entry);
  }
  return entries;
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

std::string address_of_interface(const std::string& interface) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeAddresses> list(raw);
  for (const ifaddrs* at = raw; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET || interface != at->ifa_name)
      continue;
    sockaddr_in address{};
    std::memcpy(&address, at->ifa_addr, sizeof address);
    char text[INET_ADDRSTRLEN] = {};
    if (::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != nullptr) return text;
  }
  return {};
}

std::string ip_over_ib(const std::string& device) {
  std::error_code none;
  const fs::path folder = fs::path("/sys/class/infiniband") / device / "device/net";
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (auto address = address_of_interface(entry.path().filename().string()); !address.empty())
      return address;
  }
  return {};
}

std::optional<PortInfo> port_info(ibv_context* context, const std::string& device, int number) {
  ibv_port_attr attr{};
  if (ibv_query_port(context, static_cast<std::uint8_t>(number), &attr) != 0) return std::nullopt;
  PortInfo port;
  port.number = number;
  port.active = attr.state == IBV_PORT_ACTIVE;
  port.state = state_text(attr.state);
  port.link_layer = attr.link_layer == IBV_LINK_LAYER_ETHERNET     ? LinkLayer::ethernet
                    : attr.link_layer == IBV_LINK_LAYER_INFINIBAND ? LinkLayer::infiniband
                                                                   : LinkLayer::other;
  port.active_mtu_bytes = 128U << static_cast<unsigned>(attr.active_mtu);
  port.max_message_bytes = attr.max_msg_sz;
  port.lid = attr.lid;
  const auto table_length = static_cast<std::uint32_t>(std::max(attr.gid_tbl_len, 0));
  for (const auto& entry : gid_entries(context, static_cast<std::uint32_t>(number), table_length)) {
    GidInfo gid = gid_info(entry);
    if (std::ranges::any_of(gid.bytes, [](std::uint8_t byte) { return byte != 0; }))
      port.gids.push_back(std::move(gid));
  }
  if (port.link_layer == LinkLayer::infiniband) port.ip_over_ib = ip_over_ib(device);
  return port;
}

std::string transport_text(ibv_transport_type type) {
  if (type == IBV_TRANSPORT_IB) return "InfiniBand";
  return type == IBV_TRANSPORT_IWARP ? "iWARP" : "other";
}

DeviceInfo device_info(ibv_device* device) {
  DeviceInfo info;
  info.name = ibv_get_device_name(device);
  errno = 0;
  const ContextHandle context(ibv_open_device(device));
  if (context == nullptr) {
    info.error = base::errno_text(errno);
    return info;
  }
  ibv_device_attr attr{};
  if (const int error = ibv_query_device(context.get(), &attr); error != 0) {
    info.error = "ibv_query_device: " + base::errno_text(error);
    return info;
  }
  info.transport = transport_text(device->transport_type);
  info.driver = driver_of(info.name);
  info.atomics = attr.atomic_cap == IBV_ATOMIC_GLOB  ? transport::AtomicScope::system
                 : attr.atomic_cap == IBV_ATOMIC_HCA ? transport::AtomicScope::device
                                                     : transport::AtomicScope::none;
  info.limits = {.max_qp = attr.max_qp,
                 .max_qp_wr = attr.max_qp_wr,
                 .max_cqe = attr.max_cqe,
                 .max_mr = attr.max_mr,
                 .max_qp_rd_atom = std::min(attr.max_qp_rd_atom, attr.max_qp_init_rd_atom),
                 .max_sge = attr.max_sge};
  for (int number = 1; number <= attr.phys_port_cnt; ++number) {
    if (auto port = port_info(context.get(), info.name, number)) {
      info.ports.push_back(std::move(*port));
    }
  }
  return info;
}

}  // namespace

std::string_view to_string(GidType type) noexcept {
  switch (type) {
    case GidType::ib:
      return "IB";
    case GidType::roce_v1:
      return "RoCE v1";
    case GidType::roce_v2:
      break;
  }
  return "RoCE v2";
}

std::string_view to_string(LinkLayer layer) noexcept {
  switch (layer) {
    case LinkLayer::infiniband:
      return "InfiniBand";
    case LinkLayer::ethernet:
      return "Ethernet";
    case LinkLayer::other:
      break;
  }
  return "other";
}

std::string to_string(const std::array<std::uint8_t, 16>& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET6, gid.data(), text, sizeof text) != nullptr ? text : "?";
}

std::vector<DeviceInfo> inventory() {
  int count = 0;
  const DeviceListHandle list(ibv_get_device_list(&count));
  std::vector<DeviceInfo> devices;
  if (list == nullptr) return devices;
  for (ibv_device* device : std::span(list.get(), static_cast<std::size_t>(count))) {
    devices.push_back(device_info(device));
  }
  return devices;
}

std::string usable_netdev() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return "eth0";
  const std::unique_ptr<ifaddrs, FreeAddresses> list(raw);
  for (const ifaddrs* at = raw; at != nullptr; at = at->ifa_next) {
    if ((at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0) return at->ifa_name;
  }
  return "eth0";
}

}  // namespace oriel::verbs
