#pragma once
/// What RDMA devices there are, as plain data: read once, then judged by pure functions
/// (device_choice.hpp), shown by oriel-info, and made up by tests.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/transport.hpp"

namespace oriel::verbs {

enum class GidType : std::uint8_t { ib, roce_v1, roce_v2 };

struct GidInfo {
  int index = 0;
  std::array<std::uint8_t, 16> bytes{};
  GidType type = GidType::roce_v2;
  std::string netdev{};  ///< "" when the kernel does not say
};

enum class LinkLayer : std::uint8_t { infiniband, ethernet, other };

struct PortInfo {
  int number = 1;
  bool active = false;
  std::string state{};  ///< "active", "down", …
  LinkLayer link_layer = LinkLayer::ethernet;
  std::uint32_t active_mtu_bytes = 0;
  std::uint32_t max_message_bytes = 0;
  std::uint16_t lid = 0;
  std::vector<GidInfo> gids{};
  /// InfiniBand only: address of an interface on the device (IP over IB), which the connection
  /// manager needs; "" without.
  std::string ip_over_ib{};
};

struct DeviceLimits {
  int max_qp = 0;
  int max_qp_wr = 0;
  int max_cqe = 0;
  int max_mr = 0;
  int max_qp_rd_atom = 0;
  int max_sge = 0;
};

struct DeviceInfo {
  std::string name{};
  std::string transport{};  ///< "InfiniBand" (RoCE included), "iWARP", …
  std::string driver{};     ///< "mlx5_core", "rdma_rxe", "" when unknown
  transport::AtomicScope atomics = transport::AtomicScope::none;
  DeviceLimits limits{};
  std::vector<PortInfo> ports{};
  std::string error{};  ///< why the device could not be opened; all but the name is then empty
};

[[nodiscard]] std::string_view to_string(GidType type) noexcept;
[[nodiscard]] std::string_view to_string(LinkLayer layer) noexcept;
/// "::ffff:10.77.0.1"
[[nodiscard]] std::string to_string(const std::array<std::uint8_t, 16>& gid);

/// All devices, in the order of libibverbs. Empty when there is none, or no support in the kernel.
[[nodiscard]] std::vector<DeviceInfo> inventory();

/// A network interface that is up and is not the loopback, to make hints concrete; else "eth0".
[[nodiscard]] std::string usable_netdev();

}  // namespace oriel::verbs
