#include <algorithm>
#include <cerrno>

#include "cm_state.hpp"

namespace oriel::fake_verbs {
namespace {

std::vector<std::byte> private_data(const rdma_conn_param* param) {
  if (param == nullptr || param->private_data == nullptr) return {};
  const auto* data = static_cast<const std::byte*>(param->private_data);
  return {data, data + param->private_data_len};
}

/// As librdmacm: the maxima stand for "as many as the device can", more than that is refused.
int limit_depths(const CmId& id, rdma_conn_param& param) {
  const int limit = std::min(device_of(id.verbs).config.max_qp_rd_atom, 0xff);
  const auto clamp = [limit](std::uint8_t& depth) {
    if (depth == RDMA_MAX_RESP_RES) depth = static_cast<std::uint8_t>(limit);
    return depth <= limit;
  };
  return clamp(param.responder_resources) && clamp(param.initiator_depth) ? 0 : EINVAL;
}

CmId* find_listener(const sockaddr& target) {
  CmId* found = nullptr;
  state().ids.for_each([&](CmId& id) {
    if (id.state != CmState::listening || id.dead_listener) return;
    const auto& address = id.route.addr.src_addr;
    if (port_of(address) != port_of(target)) return;
    if (is_any(address) || same_host(address, target)) found = &id;
  });
  return found;
}

std::uint32_t own_qp_num(const CmId& id, const rdma_conn_param& param) {
  return id.qp != nullptr ? id.qp->qp_num : param.qp_num;
}

/// The passive side's new id with its CONNECT_REQUEST, on the listener's channel.
CmId& deliver_request(CmId& active, CmId& listener, std::span<const std::byte> data) {
  CmId& passive = state().ids.make();
  passive.channel = listener.channel;
  passive.context = listener.context;
  passive.ps = listener.ps;
  passive.qp_type = IBV_QPT_RC;
  passive.state = CmState::requested;
  passive.peer = &active;
  passive.record = active.record;
  passive.ack_timeout = listener.ack_timeout;
  passive.peer_qp_num = own_qp_num(active, active.param);
  copy_address(passive.route.addr.src_storage, active.route.addr.dst_addr);
  copy_address(passive.route.addr.dst_storage, active.route.addr.src_addr);
  attach(passive, *locate(active.route.addr.dst_addr));

  CmEvent& event = notify(passive, RDMA_CM_EVENT_CONNECT_REQUEST, 0, data, kRequestDataBytes);
  event.listen_id = &listener;
  // Seen from here the depths swap: what the other side issues is what this side serves.
  auto& conn = event.param.conn;
  conn.responder_resources = active.param.initiator_depth;
  conn.initiator_depth = active.param.responder_resources;
  conn.flow_control = active.param.flow_control;
  conn.retry_count = active.param.retry_count;
  conn.rnr_retry_count = active.param.rnr_retry_count;
  conn.qp_num = passive.peer_qp_num;
  passive.param = conn;
  passive.param.private_data = nullptr;
  passive.param.private_data_len = 0;
  return passive;
}

/// True if a test asked for a bad end of this attempt, which is then on its way.
bool injected_outcome(CmId& id) {
  if (injected("event:lost") != 0) return true;
  const std::pair<std::string_view, rdma_cm_event_type> outcomes[] = {
      {"event:unreachable", RDMA_CM_EVENT_UNREACHABLE},
      {"event:connect_error", RDMA_CM_EVENT_CONNECT_ERROR},
      {"event:rejected", RDMA_CM_EVENT_REJECTED}};
  for (const auto& [name, type] : outcomes) {
    const int status = injected(name);
    if (status == 0) continue;
    id.state = CmState::route_resolved;
    notify(id, type, status);
    return true;
  }
  return false;
}

int connect(CmId& id, const rdma_conn_param* param) {
  if (id.state != CmState::route_resolved) return EINVAL;
  id.param = param == nullptr ? rdma_conn_param{} : *param;
  const auto data = private_data(param);
  if (data.size() > kRequestDataBytes) return EINVAL;
  if (const int error = limit_depths(id, id.param)) return error;
  id.param.private_data = nullptr;
  id.state = CmState::connecting;
  if (injected_outcome(id)) return 0;
  CmId* listener = find_listener(id.route.addr.dst_addr);
  if (listener == nullptr) {
    id.state = CmState::route_resolved;
    notify(id, RDMA_CM_EVENT_REJECTED, kRejectedNoListener, {}, kRejectDataBytes);
    return 0;
  }
  id.record = state().connections.size();
  Connection& record = state().connections.emplace_back();
  record.connect = id.param;
  record.connect_data = data;
  record.listen_port = port_of(listener->route.addr.src_addr);
  record.ack_timeout = id.ack_timeout;
  id.peer = &deliver_request(id, *listener, data);
  return 0;
}

int accept(CmId& id, const rdma_conn_param* param) {
  if (id.state != CmState::requested) return EINVAL;
  if (param != nullptr) {
    const auto request = id.param;
    id.param = *param;
    id.param.retry_count = request.retry_count;
    id.param.private_data = nullptr;
  }
  const auto data = private_data(param);
  if (data.size() > kReplyDataBytes) return EINVAL;
  if (const int error = limit_depths(id, id.param)) return error;
  if (id.peer == nullptr) {  // the other side gave up meanwhile
    notify(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    return 0;
  }
  CmId& active = *id.peer;
  Connection& record = state().connections.at(id.record);
  record.outcome = Connection::Outcome::accepted;
  record.accept = id.param;
  record.reply_data = data;
  id.reads_served = id.param.responder_resources;
  id.reads_out = id.param.initiator_depth;
  active.reads_out = std::min(active.param.initiator_depth, id.reads_served);
  active.reads_served = std::min(active.param.responder_resources, id.reads_out);
  active.peer_qp_num = own_qp_num(id, id.param);
  move_qp(id, IBV_QPS_RTR);
  move_qp(id, IBV_QPS_RTS);
  id.state = active.state = CmState::replied;
  auto& conn = notify(active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, data, kReplyDataBytes).param.conn;
  conn.responder_resources = id.param.initiator_depth;
  conn.initiator_depth = id.param.responder_resources;
  conn.rnr_retry_count = id.param.rnr_retry_count;
  conn.qp_num = active.peer_qp_num;
  return 0;
}

void reject(CmId& id, std::span<const std::byte> data) {
  Connection& record = state().connections.at(id.record);
  record.outcome = Connection::Outcome::rejected;
  record.reply_data.assign(data.begin(), data.end());
  if (id.peer != nullptr) {
    id.peer->state = CmState::route_resolved;
    id.peer->peer = nullptr;
    notify(*id.peer, RDMA_CM_EVENT_REJECTED, kRejectedByConsumer, data, kRejectDataBytes);
  }
  id.peer = nullptr;
  id.state = CmState::disconnected;
}

void end_connection(CmId& id) {
  id.state = CmState::disconnected;
  id.peer = nullptr;
  notify(id, RDMA_CM_EVENT_DISCONNECTED);
  if (state().config.timewait_exit) notify(id, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

bool established(const CmId& id) {
  return id.state == CmState::connected || id.state == CmState::replied;
}

void disconnect(CmId& id) {
  move_qp(id, IBV_QPS_ERR);
  if (id.peer == nullptr) return;
  CmId& peer = *id.peer;
  end_connection(id);
  end_connection(peer);
}

}  // namespace

void detach_peer(CmId& id) {
  if (id.state == CmState::requested) return reject(id, {});
  if (id.peer == nullptr) return;
  CmId& peer = *id.peer;
  if (established(id)) {
    end_connection(peer);
  } else {
    peer.peer = nullptr;  // it will learn so when it accepts
  }
  id.peer = nullptr;
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  if (injected_errno("rdma_connect")) return -1;
  const auto lock = lock_state();
  const int error = connect(id_of(id), param);
  return error == 0 ? 0 : fail_with(error, -1);
}

int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
  if (injected_errno("rdma_accept")) return -1;
  const auto lock = lock_state();
  const int error = accept(id_of(id), param);
  return error == 0 ? 0 : fail_with(error, -1);
}

int rdma_reject(rdma_cm_id* base, const void* data, std::uint8_t length) {
  if (injected_errno("rdma_reject")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (id.state != CmState::requested || length > kRejectDataBytes) return fail_with(EINVAL, -1);
  reject(id, {static_cast<const std::byte*>(data), length});
  return 0;
}

/// Only for ids without a queue pair of the CM's: theirs is connected by rdma_get_cm_event.
int rdma_establish(rdma_cm_id* base) {
  if (injected_errno("rdma_establish")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (id.qp_owned || id.state != CmState::replied || id.peer == nullptr) {
    return fail_with(EINVAL, -1);
  }
  id.state = id.peer->state = CmState::connected;
  notify(*id.peer, RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}

int rdma_disconnect(rdma_cm_id* base) {
  if (injected_errno("rdma_disconnect")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  const bool was_connected = established(id) || id.state == CmState::disconnected;
  if (!was_connected) return fail_with(EINVAL, -1);
  disconnect(id);
  return 0;
}
