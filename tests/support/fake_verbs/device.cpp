#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "fabric_state.hpp"

// The header hides the exported function of this name behind a macro.
#undef ibv_query_port

namespace oriel::fake_verbs {
namespace {

const Port* find_port(ibv_context* context, std::uint32_t number) {
  const auto& ports = device_of(context).config.ports;
  return number >= 1 && number <= ports.size() ? &ports[number - 1] : nullptr;
}

/// Slots beyond the configured ones exist and are zero, as on Soft-RoCE.
constexpr std::uint32_t kGidSlots = 1024;

ibv_gid parse_gid(const Gid& configured) {
  ibv_gid gid{};
  if (::inet_pton(AF_INET6, configured.address.c_str(), gid.raw) != 1) {
    throw std::invalid_argument("fake_verbs: not an IPv6 address: " + configured.address);
  }
  return gid;
}

int find_gid(ibv_context* context, std::uint32_t number, std::uint32_t index,
             ibv_gid_entry& entry) {
  const Port* port = find_port(context, number);
  if (port == nullptr || index >= kGidSlots) return EINVAL;
  if (index >= port->gids.size()) return ENODATA;
  entry = {parse_gid(port->gids[index]), index, number, port->gids[index].type, 1};
  return 0;
}

ibv_device_attr attributes(const Device& config) {
  ibv_device_attr attr{};
  std::strncpy(attr.fw_ver, "fake", sizeof attr.fw_ver - 1);
  attr.max_mr_size = config.max_mr_bytes;
  attr.page_size_cap = 0xfffff000;
  attr.max_qp = config.max_qp;
  attr.max_qp_wr = config.max_qp_wr;
  attr.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT;
  attr.max_sge = attr.max_sge_rd = config.max_sge;
  attr.max_cq = config.max_cq;
  attr.max_cqe = config.max_cqe;
  attr.max_mr = config.max_mr;
  attr.max_pd = 0xffff;
  attr.max_qp_rd_atom = attr.max_qp_init_rd_atom = config.max_qp_rd_atom;
  attr.max_res_rd_atom = config.max_qp_rd_atom * config.max_qp;
  attr.atomic_cap = config.atomic_cap;
  attr.max_pkeys = 1;
  attr.local_ca_ack_delay = 15;
  attr.phys_port_cnt = static_cast<std::uint8_t>(config.ports.size());
  return attr;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input*,
                    ibv_device_attr_ex* attr, std::size_t size) {
  if (const int error = injected("ibv_query_device_ex")) return error;
  ibv_device_attr_ex filled{};
  const auto lock = lock_state();
  filled.orig_attr = attributes(device_of(context).config);
  filled.phys_port_cnt_ex = filled.orig_attr.phys_port_cnt;
  std::memcpy(attr, &filled, std::min(size, sizeof filled));
  return 0;
}

int query_port(ibv_context* context, std::uint8_t number, ibv_port_attr* attr, std::size_t size) {
  if (const int error = injected("ibv_query_port")) return error;
  const auto lock = lock_state();
  const Port* port = find_port(context, number);
  if (port == nullptr) return EINVAL;
  ibv_port_attr filled{};
  filled.state = port->state;
  filled.max_mtu = port->max_mtu;
  filled.active_mtu = port->active_mtu;
  filled.gid_tbl_len = static_cast<int>(kGidSlots);
  filled.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  filled.max_msg_sz = port->max_message_bytes;
  filled.pkey_tbl_len = 1;
  filled.lid = port->lid;
  filled.active_width = 1;
  filled.active_speed = 1;
  filled.phys_state = port->state == IBV_PORT_ACTIVE ? 5 : 3;
  filled.link_layer = port->link_layer;
  std::memcpy(attr, &filled, std::min(size, sizeof filled));
  return 0;
}

}  // namespace

Context& open_context(DeviceState& device, bool owned_by_cm) {
  Context& opened = state().contexts.make();
  opened.device = &device;
  opened.owned_by_cm = owned_by_cm;
  opened.sz = sizeof(verbs_context);
  opened.query_port = query_port;
  opened.query_device_ex = query_device_ex;
  opened.create_cq_ex = create_cq_ex;
  opened.create_qp_ex = [](ibv_context* context, ibv_qp_init_attr_ex* init) -> ibv_qp* {
    if (injected_errno("ibv_create_qp_ex")) return nullptr;
    const auto lock = lock_state();
    Qp* qp = create_qp(context, *init);
    return qp == nullptr ? nullptr : &qp->qp_base;
  };
  ibv_context& base = opened.context;
  base.device = &device;
  base.ops.poll_cq = poll_cq;
  base.ops.req_notify_cq = request_notification;
  base.ops.post_send = post_send;
  base.ops.post_recv = post_receive;
  base.cmd_fd = -1;
  base.async_fd = opened.async_events.fd();
  base.num_comp_vectors = 1;
  base.abi_compat = __VERBS_ABI_IS_EXTENDED;
  return opened;
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

ibv_device** ibv_get_device_list(int* count) {
  if (count != nullptr) *count = 0;
  if (injected_errno("ibv_get_device_list")) return nullptr;
  const auto lock = lock_state();
  std::vector<ibv_device*> list;
  for (auto& device : state().devices) list.push_back(device.get());
  if (count != nullptr) *count = static_cast<int>(list.size());
  list.push_back(nullptr);
  ibv_device** data = list.data();
  state().device_lists.emplace(data, std::move(list));
  return data;
}

void ibv_free_device_list(ibv_device** list) {
  const auto lock = lock_state();
  if (state().device_lists.erase(list) == 0) misuse("ibv_free_device_list", "not a device list");
}

const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

int ibv_get_device_index(ibv_device* device) {
  const auto lock = lock_state();
  const auto& all = state().devices;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](auto& entry) { return entry.get() == device; });
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

__be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(0x5054'00ff'fe12'3400ULL + static_cast<unsigned>(ibv_get_device_index(device)));
}

ibv_context* ibv_open_device(ibv_device* device) {
  if (injected_errno("ibv_open_device")) return nullptr;
  const auto lock = lock_state();
  return &open_context(static_cast<DeviceState&>(*device), false).context;
}

int ibv_close_device(ibv_context* context) {
  if (const int error = injected("ibv_close_device")) return error;
  const auto lock = lock_state();
  Context& closed = context_of(context);
  if (closed.owned_by_cm) misuse("ibv_close_device", "this context belongs to librdmacm");
  const auto check_unused = [&](auto& object) {
    if (object.context == context) misuse("ibv_close_device", "objects of this context still live");
  };
  state().pds.for_each(check_unused);
  state().cqs.for_each(check_unused);
  state().comp_channels.for_each(check_unused);
  state().contexts.destroy(closed, "ibv_close_device");
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  if (const int error = injected("ibv_query_device")) return error;
  const auto lock = lock_state();
  *attr = attributes(device_of(context).config);
  return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t number, _compat_ibv_port_attr* attr) {
  // The old struct is the new one up to and with `flags`.
  return query_port(context, number, reinterpret_cast<ibv_port_attr*>(attr),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t number, std::uint32_t index,
                      ibv_gid_entry* entry, std::uint32_t flags, std::size_t size) {
  if (const int error = injected("ibv_query_gid_ex")) return error;
  if (flags != 0) return EINVAL;
  const auto lock = lock_state();
  ibv_gid_entry filled{};
  const int error = find_gid(context, number, index, filled);
  if (error == 0) std::memcpy(entry, &filled, std::min(size, sizeof filled));
  return error;
}

int ibv_query_gid(ibv_context* context, std::uint8_t number, int index, ibv_gid* gid) {
  if (injected_errno("ibv_query_gid")) return -1;
  const auto lock = lock_state();
  ibv_gid_entry entry{};
  const int error = find_gid(context, number, static_cast<std::uint32_t>(index), entry);
  if (error != 0 && error != ENODATA) return fail_with(error, -1);
  *gid = entry.gid;
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t capacity,
                             std::uint32_t flags, std::size_t size) {
  if (const int error = injected("ibv_query_gid_table")) return -error;
  const auto lock = lock_state();
  if (flags != 0) return -EINVAL;
  const auto& ports = device_of(context).config.ports;
  std::size_t count = 0;
  for (std::uint32_t number = 1; number <= ports.size(); ++number) {
    const auto& gids = ports[number - 1].gids;
    for (std::uint32_t index = 0; index < gids.size(); ++index, ++count) {
      if (count == capacity) return -EINVAL;
      const ibv_gid_entry filled{parse_gid(gids[index]), index, number, gids[index].type, 1};
      auto* target = reinterpret_cast<std::byte*>(entries) + count * size;
      std::memcpy(target, &filled, std::min(size, sizeof filled));
    }
  }
  return static_cast<ssize_t>(count);
}

int ibv_query_pkey(ibv_context*, std::uint8_t, int index, __be16* key) {
  if (index != 0) return fail_with(EINVAL, -1);
  *key = 0xffff;
  return 0;
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  if (injected_errno("ibv_get_async_event")) return -1;
  auto lock = lock_state();
  const auto next = context_of(context).async_events.pop(lock);
  if (!next) return -1;
  *event = *next;
  return 0;
}

void ibv_ack_async_event(ibv_async_event*) {}

int ibv_fork_init() {
  return injected("ibv_fork_init");
}

ibv_fork_status ibv_is_fork_initialized() {
  return IBV_FORK_UNNEEDED;
}
