#include <algorithm>
#include <cerrno>

#include "cm_state.hpp"

namespace oriel::fake_verbs {
namespace {

/// Soft-RoCE: the CM asks for 19 unless RDMA_OPTION_ID_ACK_TIMEOUT says otherwise.
constexpr std::uint8_t kDefaultTimeout = 19;

/// The part of rdma_get_cm_event that completes a connection: the passive side learns of it only
/// when the active side has looked at its events.
void finish_connect(CmId& id, CmEvent& event) {
  if (event.event != RDMA_CM_EVENT_CONNECT_RESPONSE || !id.qp_owned) return;
  move_qp(id, IBV_QPS_RTR);
  move_qp(id, IBV_QPS_RTS);
  event.event = RDMA_CM_EVENT_ESTABLISHED;
  if (id.peer == nullptr) return;  // gone again: DISCONNECTED is the next event
  id.state = id.peer->state = CmState::connected;
  notify(*id.peer, RDMA_CM_EVENT_ESTABLISHED);
}

}  // namespace

CmEvent& notify(CmId& id, rdma_cm_event_type type, int status, std::span<const std::byte> data,
                std::size_t padded) {
  CmEvent& event = state().events.make();
  event.id = &id;
  event.event = type;
  event.status = status;
  std::copy_n(data.begin(), std::min(data.size(), event.data.size()), event.data.begin());
  event.param.conn.private_data = padded == 0 ? nullptr : event.data.data();
  event.param.conn.private_data_len = static_cast<std::uint8_t>(padded);
  static_cast<EventChannel*>(id.channel)->events.push(&event);
  return event;
}

void drop_events(CmId& id) {
  auto& queue = static_cast<EventChannel*>(id.channel)->events;
  const auto concerns = [&](CmEvent* e) { return e->id == &id || e->listen_id == &id; };
  for (CmEvent* event : queue.extract_if(concerns)) {
    CmId& subject = id_of(event->id);
    state().events.destroy(*event, "rdma_destroy_id");
    if (&subject == &id) continue;
    // A request that the application has never seen dies with the listener.
    detach_peer(subject);
    state().ids.destroy(subject, "rdma_destroy_id");
  }
}

int qp_attributes(const CmId& id, ibv_qp_state to, ibv_qp_attr& attr) {
  attr.qp_state = to;
  if (to == IBV_QPS_INIT) {
    attr.port_num = id.port_num;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  }
  const Port& port = device_of(id.verbs).config.ports[id.port_num - 1U];
  if (to == IBV_QPS_RTR) {
    attr.path_mtu = port.active_mtu;
    attr.dest_qp_num = id.peer_qp_num;
    attr.max_dest_rd_atomic = id.reads_served;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    if (id.reads_served != 0) {
      attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    }
    attr.ah_attr.port_num = id.port_num;
    attr.ah_attr.is_global = 1;
    return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS;
  }
  attr.timeout = id.ack_timeout < 0 ? kDefaultTimeout : static_cast<std::uint8_t>(id.ack_timeout);
  attr.retry_cnt = id.param.retry_count;
  attr.rnr_retry = id.param.rnr_retry_count;
  attr.max_rd_atomic = id.reads_out;
  return IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
         IBV_QP_MAX_QP_RD_ATOMIC;
}

void move_qp(CmId& id, ibv_qp_state to) {
  if (!id.qp_owned || id.qp == nullptr || !state().qps.contains(&qp_of(id.qp))) return;
  ibv_qp_attr attr{};
  const int mask = to == IBV_QPS_ERR ? IBV_QP_STATE : qp_attributes(id, to, attr);
  attr.qp_state = to;
  // The application may have broken the pair meanwhile; then it stays broken.
  static_cast<void>(modify_qp(qp_of(id.qp), attr, mask));
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

rdma_event_channel* rdma_create_event_channel() {
  if (injected_errno("rdma_create_event_channel")) return nullptr;
  const auto lock = lock_state();
  return &state().channels.make();
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  const auto lock = lock_state();
  state().ids.for_each([&](CmId& id) {
    if (id.channel == channel) misuse("rdma_destroy_event_channel", "an id still uses the channel");
  });
  state().channels.destroy(static_cast<EventChannel&>(*channel), "rdma_destroy_event_channel");
}

int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (injected_errno("rdma_get_cm_event")) return -1;
  auto lock = lock_state();
  const auto next = static_cast<EventChannel*>(channel)->events.pop(lock);
  if (!next) return -1;
  CmEvent& got = **next;
  CmId& id = id_of(got.id);
  finish_connect(id, got);
  // A request's event counts for the listener until it is acknowledged, as well as for the new id.
  ++id.unacknowledged;
  if (got.listen_id != nullptr) ++id_of(got.listen_id).unacknowledged;
  *event = &got;
  return 0;
}

int rdma_ack_cm_event(rdma_cm_event* base) {
  if (injected_errno("rdma_ack_cm_event")) return -1;
  const auto lock = lock_state();
  CmEvent& event = static_cast<CmEvent&>(*base);
  if (!state().events.contains(&event)) misuse("rdma_ack_cm_event", "the event is not there");
  --id_of(event.id).unacknowledged;
  if (event.listen_id != nullptr) --id_of(event.listen_id).unacknowledged;
  state().events.destroy(event, "rdma_ack_cm_event");
  state().acknowledged.notify_all();
  return 0;
}

int rdma_migrate_id(rdma_cm_id* base, rdma_event_channel* channel) {
  if (injected_errno("rdma_migrate_id")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  auto& from = static_cast<EventChannel*>(id.channel)->events;
  for (CmEvent* event : from.extract_if([&](CmEvent* e) { return e->id == &id; })) {
    static_cast<EventChannel*>(channel)->events.push(event);
  }
  id.channel = channel;
  return 0;
}

int rdma_init_qp_attr(rdma_cm_id* base, ibv_qp_attr* attr, int* mask) {
  if (injected_errno("rdma_init_qp_attr")) return -1;
  const auto lock = lock_state();
  if (base->verbs == nullptr) return fail_with(EINVAL, -1);
  *mask = qp_attributes(id_of(base), attr->qp_state, *attr);
  return 0;
}
