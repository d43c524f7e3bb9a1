#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "event_queue.hpp"
#include "fake_verbs.hpp"

namespace oriel::fake_verbs {

// What is left for the application of the CM's messages over a port space of RDMA_PS_TCP. The
// receiver always sees the whole field, padded with zeros.
inline constexpr std::size_t kRequestDataBytes = 56;
inline constexpr std::size_t kReplyDataBytes = 196;
inline constexpr std::size_t kRejectDataBytes = 148;

inline constexpr int kRejectedNoListener = 8;
inline constexpr int kRejectedByConsumer = 28;

struct CmEvent : rdma_cm_event {
  CmEvent() : rdma_cm_event{} {}
  std::array<std::byte, kReplyDataBytes> data{};
};

struct EventChannel : rdma_event_channel {
  EventChannel() : rdma_event_channel{} { fd = events.fd(); }
  EventQueue<CmEvent*> events;
};

enum class CmState : std::uint8_t {
  idle,
  bound,
  listening,
  address_resolved,
  route_resolved,
  connecting,
  requested,  ///< passive side, before accept or reject
  replied,    ///< accepted by the passive side, the active side has not seen it yet
  connected,
  disconnected
};

struct CmId : rdma_cm_id {
  CmId() : rdma_cm_id{} {}
  CmState state = CmState::idle;
  CmId* peer = nullptr;
  std::uint32_t unacknowledged = 0;  ///< events the application holds
  int ack_timeout = -1;
  bool dead_listener = false;
  bool qp_owned = false;  ///< made by rdma_create_qp, so its states are the CM's business
  rdma_conn_param param{};
  std::uint32_t peer_qp_num = 0;
  std::uint8_t reads_out = 0;     ///< granted depth as initiator
  std::uint8_t reads_served = 0;  ///< granted depth as responder
  std::size_t record = 0;         ///< index into State::connections
};

struct AddressInfo : rdma_addrinfo {
  AddressInfo() : rdma_addrinfo{} {}
  sockaddr_storage storage{};
};

}  // namespace oriel::fake_verbs
