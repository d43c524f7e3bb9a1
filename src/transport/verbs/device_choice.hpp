#pragma once
/// Which device, port and GID a process uses, and why: pure functions over an inventory, so that
/// recorded tables of other people's machines are tests.

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "transport/verbs/device_inventory.hpp"

namespace oriel::verbs {

struct DeviceChoice {
  DeviceInfo device{};
  PortInfo port{};
  GidInfo gid{};
  /// What the connection manager binds to: the address behind the GID, so that device, GID and
  /// route agree. Port number 0.
  sockaddr_storage local_address{};
  std::string reason{};

  /// "rxe0 port 1", for messages.
  [[nodiscard]] std::string where() const;
};

/// The GID to use on a port, or nothing. RoCE v2 and routable; IPv4 before IPv6, so that both ends
/// of a dual-stack fabric meet on the same family.
[[nodiscard]] std::optional<GidInfo> choose_gid(const PortInfo& port,
                                                std::optional<int> wanted_index);

/// The first usable port: of ORIEL_DEVICE if given, else of `preferred_device` (the nearest one),
/// else of any. Errors: no_device, listing every device and port and why it was refused; the hint
/// is about the one that came closest.
/// @param netdev  an interface for the hint how to make a soft device
[[nodiscard]] DeviceChoice choose_device(std::span<const DeviceInfo> devices,
                                         const base::Options& options,
                                         const std::string& preferred_device,
                                         std::string_view netdev = "eth0");

}  // namespace oriel::verbs
