#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cm_state.hpp"

namespace oriel::fake_verbs {
namespace {

/// Every address as the IPv6 address that a GID would hold.
in6_addr as_gid(const sockaddr& address) {
  in6_addr result{};
  if (address.sa_family == AF_INET) {
    const auto& ip4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    result.s6_addr[10] = result.s6_addr[11] = 0xff;
    std::memcpy(result.s6_addr + 12, &ip4, sizeof ip4);
  } else if (address.sa_family == AF_INET6) {
    result = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  return result;
}

bool equal(const in6_addr& a, const in6_addr& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool port_taken(std::uint16_t port, const CmId& asking) {
  bool taken = false;
  state().ids.for_each([&](CmId& id) {
    const bool bound =
        &id != &asking && (id.state == CmState::bound || id.state == CmState::listening);
    if (!bound || port_of(id.route.addr.src_addr) != port) return;
    const auto& mine = asking.route.addr.src_addr;
    const auto& other = id.route.addr.src_addr;
    taken = taken || is_any(mine) || is_any(other) || same_host(mine, other);
  });
  return taken;
}

}  // namespace

bool is_any(const sockaddr& address) {
  const in6_addr gid = as_gid(address);
  return IN6_IS_ADDR_UNSPECIFIED(&gid) || (address.sa_family == AF_INET && gid.s6_addr32[3] == 0);
}

bool is_loopback(const sockaddr& address) {
  const in6_addr gid = as_gid(address);
  return IN6_IS_ADDR_LOOPBACK(&gid) || (IN6_IS_ADDR_V4MAPPED(&gid) && gid.s6_addr[12] == 127);
}

bool same_host(const sockaddr& a, const sockaddr& b) {
  return equal(as_gid(a), as_gid(b));
}

std::uint16_t port_of(const sockaddr& address) {
  return ntohs(address.sa_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

void set_port(sockaddr& address, std::uint16_t port) {
  if (address.sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
}

void copy_address(sockaddr_storage& target, const sockaddr& source) {
  target = {};
  const bool ip6 = source.sa_family == AF_INET6;
  std::memcpy(&target, &source, ip6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
}

std::optional<Location> locate(const sockaddr& address) {
  const in6_addr wanted = as_gid(address);
  for (auto& device : state().devices) {
    const auto& ports = device->config.ports;
    for (std::size_t port = 0; port < ports.size(); ++port) {
      const auto& gids = ports[port].gids;
      const bool found = std::any_of(gids.begin(), gids.end(), [&](const Gid& gid) {
        in6_addr own{};
        return ::inet_pton(AF_INET6, gid.address.c_str(), &own) == 1 && equal(own, wanted);
      });
      if (found) return Location{device.get(), static_cast<std::uint8_t>(port + 1)};
    }
  }
  return std::nullopt;
}

void attach(CmId& id, const Location& location) {
  Context* opened = nullptr;
  state().contexts.for_each([&](Context& context) {
    if (context.owned_by_cm && context.device == location.device) opened = &context;
  });
  if (opened == nullptr) opened = &open_context(*location.device, true);
  id.verbs = &opened->context;
  id.port_num = location.port;
}

int take_port(CmId& id, std::uint16_t port) {
  const bool chosen = port == 0;
  do {
    if (chosen) port = state().next_port++;
    if (state().next_port == 0) state().next_port = kFirstEphemeralPort;
    if (!chosen && port_taken(port, id)) return EADDRINUSE;
  } while (port_taken(port, id));
  set_port(id.route.addr.src_addr, port);
  return 0;
}

}  // namespace oriel::fake_verbs
