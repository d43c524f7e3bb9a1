#include "transport/verbs/device_choice.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::verbs {
namespace {

using GidBytes = std::array<std::uint8_t, 16>;

bool is_ipv4(const GidBytes& gid) noexcept {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.end(), gid.begin());
}

bool is_link_local(const GidBytes& gid) noexcept {
  if (is_ipv4(gid)) return gid[12] == 169 && gid[13] == 254;
  return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

sockaddr_storage socket_address(const GidBytes& gid) {
  sockaddr_storage storage{};
  if (is_ipv4(gid)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    std::memcpy(&address.sin_addr, gid.data() + 12, 4);
    std::memcpy(&storage, &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    std::memcpy(&address.sin6_addr, gid.data(), 16);
    std::memcpy(&storage, &address, sizeof address);
  }
  return storage;
}

sockaddr_storage socket_address(const std::string& ipv4) {
  sockaddr_storage storage{};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (::inet_pton(AF_INET, ipv4.c_str(), &address.sin_addr) == 1)
    std::memcpy(&storage, &address, sizeof address);
  return storage;
}

/// How far a port came before it was refused: the hint is about the one that came furthest.
enum class Hurdle : std::uint8_t { override_names_another, permission, port_down, atomics, gid };

struct Refusal {
  Hurdle hurdle;
  std::string text;
  std::string hint;
};

/// ORIEL_DEVICE, "rxe0" or "rxe0:1"; the options have checked its form.
struct Override {
  std::string_view device;
  std::optional<int> port;
};

Override parse_override(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  int port = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  return {text.substr(0, colon), port};
}

Refusal no_gid(const std::string& where, const PortInfo& port, std::optional<int> wanted) {
  std::string table;
  for (const GidInfo& gid : port.gids) {
    table += fmt::format("{}{}: {} {}", table.empty() ? "" : ", ", gid.index, to_string(gid.type),
                         to_string(gid.bytes));
  }
  if (table.empty()) table = "empty";
  if (wanted) {
    return {Hurdle::gid, fmt::format("{}: no GID at index {} (table: {})", where, *wanted, table),
            "set ORIEL_GID_INDEX to an index of the table, or unset it"};
  }
  const std::string netdev =
      port.gids.empty() || port.gids[0].netdev.empty() ? "INTERFACE" : port.gids[0].netdev;
  if (port.link_layer == LinkLayer::infiniband) {
    return {Hurdle::gid, fmt::format("{}: no IP-over-InfiniBand address", where),
            "the connection manager needs an address: ip addr add 10.77.0.1/24 dev ib0"};
  }
  return {Hurdle::gid,
          fmt::format("{}: no usable GID, that is RoCE v2 and not link-local (table: {})", where,
                      table),
          fmt::format("give the interface a routable address, such as: ip addr add 10.77.0.1/24 "
                      "dev {}",
                      netdev)};
}

std::optional<Refusal> refuse(const DeviceInfo& device, const PortInfo& port,
                              const std::string& where) {
  if (!port.active) {
    return Refusal{Hurdle::port_down, fmt::format("{}: the port is {}", where, port.state),
                   "bring the link up (ip link set INTERFACE up; cable, switch, subnet manager)"};
  }
  if (device.transport == "iWARP" || device.atomics == transport::AtomicScope::none) {
    return Refusal{
        Hurdle::atomics, fmt::format("{}: the device has no atomics ({})", where, device.transport),
        "take a device with 64-bit atomics, RoCE v2 or InfiniBand (a soft one has them)"};
  }
  return std::nullopt;
}

std::string gid_reason(const PortInfo& port, std::optional<int> wanted, const GidInfo& gid) {
  if (wanted) return "ORIEL_GID_INDEX";
  if (port.link_layer == LinkLayer::infiniband) return "InfiniBand";
  return is_ipv4(gid.bytes) ? "RoCE v2, routable IPv4" : "RoCE v2, routable IPv6, there is no IPv4";
}

[[noreturn]] void throw_nothing_usable(std::span<const DeviceInfo> devices,
                                       std::vector<Refusal> refusals, const std::string& wanted,
                                       std::string_view netdev) {
  if (devices.empty()) {
    base::throw_error(
        ErrorCode::no_device,
        {.operation = "ORIEL_FABRIC=verbs",
         .problem = fmt::format("looked for {} among the devices of libibverbs: there are none",
                                wanted.empty() ? "an RDMA device" : wanted),
         .hint = fmt::format("a soft device is added by: modprobe rdma_rxe && rdma link add rxe0 "
                             "type rxe netdev {}",
                             netdev)});
  }
  std::string list;
  for (const Refusal& refusal : refusals) {
    list += fmt::format("{}{}", list.empty() ? "" : "; ", refusal.text);
  }
  const auto closest = std::ranges::max_element(refusals, {}, &Refusal::hurdle);
  base::throw_error(ErrorCode::no_device,
                    {.operation = "ORIEL_FABRIC=verbs",
                     .problem = fmt::format("no device can be used: {}", list),
                     .hint = closest == refusals.end() ? "see oriel-info" : closest->hint});
}

class Selection {
 public:
  Selection(std::span<const DeviceInfo> devices, const base::Options& options)
      : devices_(devices), options_(options), override_(parse_override(options.device)) {}

  /// The first usable port of the device, or why there is none.
  std::optional<DeviceChoice> try_device(const DeviceInfo& device, std::string_view why) {
    if (!override_.device.empty() && device.name != override_.device) {
      refuse_by_override(device.name);
      return std::nullopt;
    }
    if (!device.error.empty()) {
      refusals_.push_back({Hurdle::permission,
                           fmt::format("{}: cannot be opened: {}", device.name, device.error),
                           "make /dev/infiniband/uverbs* readable and writable for this user (in "
                           "containers: pass the devices in, --device /dev/infiniband)"});
    }
    for (const PortInfo& port : device.ports) {
      if (auto choice = try_port(device, port, why)) return choice;
    }
    return std::nullopt;
  }

  std::vector<Refusal>& refusals() { return refusals_; }

 private:
  void refuse_by_override(const std::string& name) {
    std::string names;
    for (const DeviceInfo& device : devices_) {
      for (const PortInfo& port : device.ports) {
        names += fmt::format("{}{}:{}", names.empty() ? "" : ", ", device.name, port.number);
      }
      if (device.ports.empty()) names += (names.empty() ? "" : ", ") + device.name;
    }
    refusals_.push_back(
        {Hurdle::override_names_another,
         fmt::format("{}: not what ORIEL_DEVICE={} asks for", name, options_.device),
         fmt::format("unset ORIEL_DEVICE, or set it to one of {}", names)});
  }

  std::optional<DeviceChoice> try_port(const DeviceInfo& device, const PortInfo& port,
                                       std::string_view why) {
    DeviceChoice choice{.device = device, .port = port};
    if (override_.port && port.number != *override_.port) {
      refuse_by_override(choice.where());
      return std::nullopt;
    }
    if (auto refusal = refuse(device, port, choice.where())) {
      refusals_.push_back(std::move(*refusal));
      return std::nullopt;
    }
    const auto gid = choose_gid(port, options_.gid_index);
    const bool infiniband = port.link_layer == LinkLayer::infiniband;
    if (!gid || (infiniband && port.ip_over_ib.empty())) {
      refusals_.push_back(no_gid(choice.where(), port, gid ? std::nullopt : options_.gid_index));
      return std::nullopt;
    }
    choice.gid = *gid;
    choice.local_address =
        infiniband ? socket_address(port.ip_over_ib) : socket_address(gid->bytes);
    choice.reason = fmt::format("{}: {}; GID {} {}: {}", choice.where(), why, gid->index,
                                to_string(gid->bytes), gid_reason(port, options_.gid_index, *gid));
    return choice;
  }

  std::span<const DeviceInfo> devices_;
  const base::Options& options_;
  Override override_;
  std::vector<Refusal> refusals_;
};

}  // namespace

std::string DeviceChoice::where() const {
  return fmt::format("{} port {}", device.name, port.number);
}

std::optional<GidInfo> choose_gid(const PortInfo& port, std::optional<int> wanted_index) {
  if (wanted_index) {
    const auto found = std::ranges::find(port.gids, *wanted_index, &GidInfo::index);
    return found == port.gids.end() ? std::nullopt : std::optional(*found);
  }
  if (port.link_layer == LinkLayer::infiniband) {
    return port.gids.empty() ? std::nullopt : std::optional(port.gids.front());
  }
  const auto usable = [](const GidInfo& gid) {
    return gid.type == GidType::roce_v2 && !is_link_local(gid.bytes);
  };
  const auto ipv4 = std::ranges::find_if(
      port.gids, [&](const GidInfo& gid) { return usable(gid) && is_ipv4(gid.bytes); });
  if (ipv4 != port.gids.end()) return *ipv4;
  const auto any = std::ranges::find_if(port.gids, usable);
  return any == port.gids.end() ? std::nullopt : std::optional(*any);
}

DeviceChoice choose_device(std::span<const DeviceInfo> devices, const base::Options& options,
                           const std::string& preferred_device, std::string_view netdev) {
  Selection selection(devices, options);
  const std::string_view otherwise =
      options.device.empty() ? "the first usable device" : "ORIEL_DEVICE";
  for (const bool preferred : {true, false}) {
    for (const DeviceInfo& device : devices) {
      if ((device.name == preferred_device) != preferred) continue;
      const std::string_view why =
          preferred && options.device.empty() ? "the nearest device" : otherwise;
      if (auto choice = selection.try_device(device, why)) return *choice;
    }
  }
  throw_nothing_usable(devices, std::move(selection.refusals()), options.device, netdev);
}

}  // namespace oriel::verbs
