#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fabric_state.hpp"

/// Shared by the files of the connection manager; the caller holds the lock.
namespace oriel::fake_verbs {

struct Location {
  DeviceState* device = nullptr;
  std::uint8_t port = 0;
};

// ---- cm_address.cpp ----

[[nodiscard]] inline CmId& id_of(rdma_cm_id* id) {
  return static_cast<CmId&>(*id);
}
[[nodiscard]] bool is_any(const sockaddr& address);
[[nodiscard]] bool is_loopback(const sockaddr& address);
[[nodiscard]] bool same_host(const sockaddr& a, const sockaddr& b);
[[nodiscard]] std::uint16_t port_of(const sockaddr& address);
void set_port(sockaddr& address, std::uint16_t port);
void copy_address(sockaddr_storage& target, const sockaddr& source);
[[nodiscard]] std::optional<Location> locate(const sockaddr& address);

/// Puts the id on a device: from now on it has `verbs` and `port_num`.
void attach(CmId& id, const Location& location);
/// Gives the id's source address this port, or a free one for 0. EADDRINUSE or 0.
[[nodiscard]] int take_port(CmId& id, std::uint16_t port);

// ---- cm_events.cpp ----

/// Queues an event for the id; `data` is padded with zeros to `padded` bytes.
CmEvent& notify(CmId& id, rdma_cm_event_type type, int status = 0,
                std::span<const std::byte> data = {}, std::size_t padded = 0);
void drop_events(CmId& id);

/// The attributes for the next state of a connected id's queue pair, and their mask.
[[nodiscard]] int qp_attributes(const CmId& id, ibv_qp_state state, ibv_qp_attr& attr);
void move_qp(CmId& id, ibv_qp_state state);

// ---- cm_connect.cpp ----

/// Tells the other side that this one is gone, in whatever state they are.
void detach_peer(CmId& id);

}  // namespace oriel::fake_verbs
