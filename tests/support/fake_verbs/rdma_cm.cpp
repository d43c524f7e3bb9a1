#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cm_state.hpp"

namespace oriel::fake_verbs {
namespace {

bool idle_or_bound(const CmId& id) {
  return id.state == CmState::idle || id.state == CmState::bound;
}

/// An outcome of an asynchronous call: the good event, or the one a test asked for instead.
void announce(CmId& id, CmState next, rdma_cm_event_type good, std::string_view injection,
              rdma_cm_event_type bad) {
  if (const int status = injected(injection)) {
    notify(id, bad, status);
    return;
  }
  id.state = next;
  notify(id, good);
}

int bind_to(CmId& id, const sockaddr& address) {
  const auto location = locate(address);
  if (!location && !is_any(address) && !is_loopback(address)) return EADDRNOTAVAIL;
  copy_address(id.route.addr.src_storage, address);
  if (const int error = take_port(id, port_of(address))) return error;
  if (location) attach(id, *location);
  id.state = CmState::bound;
  return 0;
}

/// Loopback has a route but no RDMA device, which only rdma_resolve_route finds out.
int resolve(CmId& id, sockaddr* source, const sockaddr& target) {
  if (source != nullptr && id.state == CmState::idle) {
    if (const int error = bind_to(id, *source)) return error;
  }
  copy_address(id.route.addr.dst_storage, target);
  const auto location = locate(target);
  if (!location && !is_loopback(target)) {
    notify(id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
    return 0;
  }
  if (id.state == CmState::idle) {
    copy_address(id.route.addr.src_storage, target);
    if (const int error = take_port(id, 0)) return error;
  }
  if (id.verbs == nullptr && location) attach(id, *location);
  announce(id, CmState::address_resolved, RDMA_CM_EVENT_ADDR_RESOLVED, "event:addr_error",
           RDMA_CM_EVENT_ADDR_ERROR);
  return 0;
}

int create_id_qp(CmId& id, ibv_qp_init_attr_ex& init) {
  if (id.verbs == nullptr || id.qp != nullptr || init.pd == nullptr) return EINVAL;
  if (init.pd->context != id.verbs) return EINVAL;
  Qp* qp = create_qp(id.verbs, init);
  if (qp == nullptr) return errno;
  id.qp = &qp->qp_base;
  id.pd = init.pd;
  id.qp_owned = true;
  move_qp(id, IBV_QPS_INIT);
  return 0;
}

int set_id_option(CmId& id, int name, const void* value, std::size_t length) {
  switch (name) {
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      if (length != sizeof(std::uint8_t)) return EINVAL;
      id.ack_timeout = *static_cast<const std::uint8_t*>(value);
      return 0;
    case RDMA_OPTION_ID_TOS:
      return length == sizeof(std::uint8_t) ? 0 : EINVAL;
    case RDMA_OPTION_ID_REUSEADDR:
    case RDMA_OPTION_ID_AFONLY:
      return length == sizeof(int) ? 0 : EINVAL;
    default:
      return ENOSYS;
  }
}

}  // namespace

bool kill_listener(std::uint16_t port) {
  const auto lock = lock_state();
  bool found = false;
  state().ids.for_each([&](CmId& id) {
    if (id.state != CmState::listening || port_of(id.route.addr.src_addr) != port) return;
    id.dead_listener = found = true;
  });
  return found;
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

namespace {

int result(int error) {
  return error == 0 ? 0 : fail_with(error, -1);
}

}  // namespace

int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* user,
                   rdma_port_space space) {
  if (injected_errno("rdma_create_id")) return -1;
  // Ids without a channel block inside their calls; nobody here needs them.
  if (channel == nullptr || space != RDMA_PS_TCP) return fail_with(EOPNOTSUPP, -1);
  const auto lock = lock_state();
  CmId& made = state().ids.make();
  made.channel = channel;
  made.context = user;
  made.ps = space;
  made.qp_type = IBV_QPT_RC;
  *id = &made;
  return 0;
}

int rdma_destroy_id(rdma_cm_id* base) {
  if (injected_errno("rdma_destroy_id")) return -1;
  auto lock = lock_state();
  CmId& id = id_of(base);
  if (!state().ids.contains(&id)) misuse("rdma_destroy_id", "the id does not exist (freed twice?)");
  detach_peer(id);
  id.state = CmState::disconnected;  // a listener takes no request while it waits below
  drop_events(id);
  wait_acknowledged(lock, id.unacknowledged, "rdma_destroy_id");
  state().ids.destroy(id, "rdma_destroy_id");
  return 0;
}

int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  if (injected_errno("rdma_bind_addr")) return -1;
  const auto lock = lock_state();
  if (id_of(id).state != CmState::idle) return fail_with(EINVAL, -1);
  return result(bind_to(id_of(id), *address));
}

int rdma_listen(rdma_cm_id* base, int) {
  if (injected_errno("rdma_listen")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (!idle_or_bound(id)) return fail_with(EINVAL, -1);
  if (id.state == CmState::idle) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    if (const int error = bind_to(id, reinterpret_cast<sockaddr&>(any))) return result(error);
  }
  id.state = CmState::listening;
  return 0;
}

__be16 rdma_get_src_port(rdma_cm_id* id) {
  return htons(port_of(id->route.addr.src_addr));
}
__be16 rdma_get_dst_port(rdma_cm_id* id) {
  return htons(port_of(id->route.addr.dst_addr));
}

int rdma_resolve_addr(rdma_cm_id* base, sockaddr* source, sockaddr* target, int) {
  if (injected_errno("rdma_resolve_addr")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (!idle_or_bound(id)) return fail_with(EINVAL, -1);
  return result(resolve(id, source, *target));
}

int rdma_resolve_route(rdma_cm_id* base, int) {
  if (injected_errno("rdma_resolve_route")) return -1;
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (id.state != CmState::address_resolved) return fail_with(EINVAL, -1);
  if (id.verbs == nullptr) return fail_with(ENODEV, -1);
  announce(id, CmState::route_resolved, RDMA_CM_EVENT_ROUTE_RESOLVED, "event:route_error",
           RDMA_CM_EVENT_ROUTE_ERROR);
  return 0;
}

int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* init) {
  if (injected_errno("rdma_create_qp_ex")) return -1;
  const auto lock = lock_state();
  return result(create_id_qp(id_of(id), *init));
}

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* init) {
  if (injected_errno("rdma_create_qp")) return -1;
  ibv_qp_init_attr_ex full{};
  full.qp_context = init->qp_context;
  full.send_cq = init->send_cq;
  full.recv_cq = init->recv_cq;
  full.srq = init->srq;
  full.cap = init->cap;
  full.qp_type = init->qp_type;
  full.sq_sig_all = init->sq_sig_all;
  full.comp_mask = IBV_QP_INIT_ATTR_PD;
  full.pd = pd;
  const auto lock = lock_state();
  const int error = create_id_qp(id_of(id), full);
  if (error == 0) init->cap = full.cap;
  return result(error);
}

void rdma_destroy_qp(rdma_cm_id* base) {
  const auto lock = lock_state();
  CmId& id = id_of(base);
  if (id.qp == nullptr) misuse("rdma_destroy_qp", "the id has no queue pair");
  destroy_qp(qp_of(id.qp));
  id.qp = nullptr;
  id.qp_owned = false;
}

int rdma_set_option(rdma_cm_id* id, int level, int name, void* value, std::size_t length) {
  if (injected_errno("rdma_set_option")) return -1;
  const auto lock = lock_state();
  if (level != RDMA_OPTION_ID) return fail_with(ENOSYS, -1);
  return result(set_id_option(id_of(id), name, value, length));
}

ibv_context** rdma_get_devices(int* count) {
  if (injected_errno("rdma_get_devices")) return nullptr;
  const auto lock = lock_state();
  std::vector<ibv_context*> list;
  for (auto& device : state().devices) {
    CmId probe;
    attach(probe, Location{device.get(), 1});
    list.push_back(probe.verbs);
  }
  if (count != nullptr) *count = static_cast<int>(list.size());
  list.push_back(nullptr);
  ibv_context** data = list.data();
  state().context_lists.emplace(data, std::move(list));
  return data;
}

void rdma_free_devices(ibv_context** list) {
  const auto lock = lock_state();
  if (state().context_lists.erase(list) == 0) misuse("rdma_free_devices", "not a device list");
}

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                     rdma_addrinfo** found) {
  if (injected_errno("rdma_getaddrinfo")) return -1;
  const auto lock = lock_state();
  sockaddr_in ip4{};
  sockaddr_in6 ip6{};
  const auto port = static_cast<std::uint16_t>(service == nullptr ? 0 : std::atoi(service));
  const bool any = node == nullptr;
  const bool is_ip4 = any || ::inet_pton(AF_INET, node, &ip4.sin_addr) == 1;
  if (!is_ip4 && ::inet_pton(AF_INET6, node, &ip6.sin6_addr) != 1) return fail_with(ENODATA, -1);
  AddressInfo& info = state().address_infos.make();
  ip4.sin_family = AF_INET;
  ip6.sin6_family = AF_INET6;
  copy_address(info.storage,
               is_ip4 ? reinterpret_cast<sockaddr&>(ip4) : reinterpret_cast<sockaddr&>(ip6));
  auto* address = reinterpret_cast<sockaddr*>(&info.storage);
  set_port(*address, port);
  const auto length = static_cast<socklen_t>(is_ip4 ? sizeof ip4 : sizeof ip6);
  info.ai_flags = hints == nullptr ? 0 : hints->ai_flags;
  info.ai_family = address->sa_family;
  info.ai_qp_type = IBV_QPT_RC;
  info.ai_port_space = RDMA_PS_TCP;
  const bool passive = (info.ai_flags & RAI_PASSIVE) != 0;
  (passive ? info.ai_src_addr : info.ai_dst_addr) = address;
  (passive ? info.ai_src_len : info.ai_dst_len) = length;
  *found = &info;
  return 0;
}

void rdma_freeaddrinfo(rdma_addrinfo* info) {
  const auto lock = lock_state();
  state().address_infos.destroy(static_cast<AddressInfo&>(*info), "rdma_freeaddrinfo");
}
