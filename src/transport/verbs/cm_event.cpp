#include "transport/verbs/cm_event.hpp"

#include <arpa/inet.h>
#include <fcntl.h>

#include <algorithm>

#include <fmt/format.h>

#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/verbs_call.hpp"

namespace oriel::verbs {

CmChannel::CmChannel()
    : channel_(
          check_made<CmChannelHandle>(rdma_create_event_channel(), "rdma_create_event_channel")) {
  const int flags = ::fcntl(fd(), F_GETFL);
  if (flags < 0 || ::fcntl(fd(), F_SETFL, flags | O_NONBLOCK) != 0)
    throw_failed_call("fcntl(O_NONBLOCK) on the CM channel", errno);
}

std::optional<CmEvent> CmChannel::next() noexcept {
  rdma_cm_event* raw = nullptr;
  if (rdma_get_cm_event(channel_.get(), &raw) != 0) return std::nullopt;
  CmEvent event;
  event.id = raw->id;
  event.type = raw->event;
  event.status = raw->status;
  const rdma_conn_param& param = raw->param.conn;
  event.responder_resources = param.responder_resources;
  if (param.private_data != nullptr) {
    event.data_bytes = std::min<std::size_t>(param.private_data_len, event.data.size());
    std::memcpy(event.data.data(), param.private_data, event.data_bytes);
  }
  rdma_ack_cm_event(raw);
  return event;
}

CmIdHandle make_cm_id(CmChannel& channel, void* context) {
  rdma_cm_id* id = nullptr;
  check_call(rdma_create_id(channel.get(), &id, context, RDMA_PS_TCP), "rdma_create_id");
  return CmIdHandle(id);
}

std::string to_string(const sockaddr_storage& storage) {
  const PeerAddress address = [&] {
    PeerAddress made;
    made.set_socket_address(storage);
    return made;
  }();
  sockaddr_in v4{};  // the port is at the same place in both families
  std::memcpy(&v4, &storage, sizeof v4);
  char text[INET6_ADDRSTRLEN] = {};
  const int family = storage.ss_family;
  if (::inet_ntop(family, address.ip.data(), text, sizeof text) == nullptr) return "?";
  return family == AF_INET ? fmt::format("{}:{}", text, ntohs(v4.sin_port))
                           : fmt::format("[{}]:{}", text, ntohs(v4.sin_port));
}

}  // namespace oriel::verbs
