#include <algorithm>
#include <bit>
#include <cerrno>

#include "fabric_state.hpp"

namespace oriel::fake_verbs {
namespace {

std::uint32_t granted_depth(const Device& config, std::uint32_t asked) {
  return config.round_up_queues ? std::bit_ceil(asked + 1) - 1 : asked;
}

int check_init(const Device& config, const ibv_qp_init_attr_ex& init) {
  const auto& cap = init.cap;
  const auto max_wr = static_cast<std::uint32_t>(config.max_qp_wr);
  const auto max_sge = static_cast<std::uint32_t>(config.max_sge);
  if (init.qp_type != IBV_QPT_RC || init.srq != nullptr) return EOPNOTSUPP;
  if (init.send_cq == nullptr || init.recv_cq == nullptr) return EINVAL;
  if (cap.max_send_wr == 0 || cap.max_send_wr > max_wr || cap.max_recv_wr > max_wr) return EINVAL;
  if (cap.max_send_sge > max_sge || cap.max_recv_sge > max_sge) return EINVAL;
  if (cap.max_inline_data > config.max_inline_bytes) return EINVAL;
  const bool full = state().qps.size() >= static_cast<std::size_t>(config.max_qp);
  return full ? ENOMEM : 0;
}

/// What Soft-RoCE grants: room for inline data and for sges is the same room.
void size_queues(Qp& qp, const Device& config, const ibv_qp_cap& asked) {
  qp.cap = asked;
  qp.cap.max_send_wr = granted_depth(config, asked.max_send_wr);
  qp.cap.max_recv_wr = granted_depth(config, asked.max_recv_wr);
  qp.cap.max_send_sge = std::max(asked.max_send_sge, 1U);
  const auto sge_room = static_cast<std::uint32_t>(sizeof(ibv_sge)) * qp.cap.max_send_sge;
  qp.cap.max_inline_data =
      std::min(std::max(asked.max_inline_data, sge_room), config.max_inline_bytes);
  const std::size_t slots = std::bit_ceil(qp.cap.max_send_wr);
  qp.mask = slots - 1;
  qp.ring.resize(slots);
  qp.sges.resize(slots * qp.cap.max_send_sge);
  qp.inline_bytes.resize(slots * qp.cap.max_inline_data);
  qp.receives.resize(qp.cap.max_recv_wr);
  for (auto& receive : qp.receives) receive.sges.reserve(qp.cap.max_recv_sge);
}

void forget_user(ibv_cq* base, Qp& qp) {
  auto& users = cq_of(base).users;
  users.erase(std::find(users.begin(), users.end(), &qp));
}

struct Transition {
  ibv_qp_state from, to;
  int required, optional;
};

constexpr int kReturnToRts = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER;
constexpr auto kTransitions = std::to_array<Transition>(
    {{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
     {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
     {IBV_QPS_INIT, IBV_QPS_RTR,
      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
          IBV_QP_MIN_RNR_TIMER,
      IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
     {IBV_QPS_RTR, IBV_QPS_RTS,
      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
          IBV_QP_MAX_QP_RD_ATOMIC,
      kReturnToRts},
     {IBV_QPS_RTS, IBV_QPS_RTS, 0, kReturnToRts}});

bool allowed(ibv_qp_state from, ibv_qp_state to, int mask) {
  mask &= ~IBV_QP_STATE;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return (mask & ~IBV_QP_CUR_STATE) == 0;
  return std::any_of(kTransitions.begin(), kTransitions.end(), [&](const Transition& t) {
    return t.from == from && t.to == to && (mask & t.required) == t.required &&
           (mask & ~(t.required | t.optional)) == 0;
  });
}

bool valid_values(const Qp& qp, const ibv_qp_attr& attr, int mask) {
  const auto& config = device_of(qp.qp_base.context).config;
  const auto has = [&](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PORT) && (attr.port_num < 1 || attr.port_num > config.ports.size())) return false;
  if (has(IBV_QP_MAX_QP_RD_ATOMIC) && attr.max_rd_atomic > config.max_qp_rd_atom) return false;
  if (has(IBV_QP_MAX_DEST_RD_ATOMIC) && attr.max_dest_rd_atomic > config.max_qp_rd_atom) {
    return false;
  }
  if (has(IBV_QP_PATH_MTU) && attr.path_mtu > config.ports[qp.attr.port_num - 1U].max_mtu) {
    return false;
  }
  return !(has(IBV_QP_RETRY_CNT) && attr.retry_cnt > 7) &&
         !(has(IBV_QP_TIMEOUT) && attr.timeout > 31);
}

void copy_values(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
  const auto copy = [mask](int bit, auto& target, const auto& source) {
    if ((mask & bit) != 0) target = source;
  };
  copy(IBV_QP_ACCESS_FLAGS, to.qp_access_flags, from.qp_access_flags);
  copy(IBV_QP_PKEY_INDEX, to.pkey_index, from.pkey_index);
  copy(IBV_QP_PORT, to.port_num, from.port_num);
  copy(IBV_QP_AV, to.ah_attr, from.ah_attr);
  copy(IBV_QP_PATH_MTU, to.path_mtu, from.path_mtu);
  copy(IBV_QP_TIMEOUT, to.timeout, from.timeout);
  copy(IBV_QP_RETRY_CNT, to.retry_cnt, from.retry_cnt);
  copy(IBV_QP_RNR_RETRY, to.rnr_retry, from.rnr_retry);
  copy(IBV_QP_RQ_PSN, to.rq_psn, from.rq_psn);
  copy(IBV_QP_SQ_PSN, to.sq_psn, from.sq_psn);
  copy(IBV_QP_MAX_QP_RD_ATOMIC, to.max_rd_atomic, from.max_rd_atomic);
  copy(IBV_QP_MAX_DEST_RD_ATOMIC, to.max_dest_rd_atomic, from.max_dest_rd_atomic);
  copy(IBV_QP_MIN_RNR_TIMER, to.min_rnr_timer, from.min_rnr_timer);
  copy(IBV_QP_DEST_QPN, to.dest_qp_num, from.dest_qp_num);
}

}  // namespace

Qp* create_qp(ibv_context* context, ibv_qp_init_attr_ex& init) {
  const auto& config = device_of(context).config;
  constexpr std::uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const bool extended = (init.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  if ((init.comp_mask & ~known) != 0 ||
      (extended && (init.send_ops_flags & ~config.send_ops) != 0)) {
    return fail_with<Qp*>(EOPNOTSUPP, nullptr);
  }
  if ((init.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || init.pd == nullptr) {
    return fail_with<Qp*>(EINVAL, nullptr);
  }
  if (const int error = check_init(config, init)) return fail_with<Qp*>(error, nullptr);

  State& all = state();
  Qp& qp = all.qps.make();
  size_queues(qp, config, init.cap);
  init.cap = qp.cap;
  qp.signal_all = init.sq_sig_all != 0;
  qp.extended = extended;
  ibv_qp& base = qp.qp_base;
  base.context = context;
  base.qp_context = init.qp_context;
  base.pd = init.pd;
  base.send_cq = init.send_cq;
  base.recv_cq = init.recv_cq;
  base.handle = static_cast<std::uint32_t>(all.qp_by_index.size());
  base.qp_num = kFirstQpNumber + base.handle;
  base.qp_type = init.qp_type;
  if (extended) install_send_ops(qp, init.send_ops_flags);
  all.qp_by_index.push_back(&qp);
  ++static_cast<Pd*>(init.pd)->users;
  cq_of(init.send_cq).users.push_back(&qp);
  cq_of(init.recv_cq).users.push_back(&qp);
  ++all.statistics.queue_pairs;
  return &qp;
}

int modify_qp(Qp& qp, const ibv_qp_attr& attr, int mask) {
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : qp.actual;
  if (!allowed(qp.actual, to, mask) || !valid_values(qp, attr, mask)) return EINVAL;
  copy_values(qp.attr, attr, mask);
  if (to == IBV_QPS_ERR) {
    enter_error(qp);
  } else {
    if (to == IBV_QPS_RESET) clear_queues(qp);
    qp.actual = to;
  }
  qp.qp_base.state = to;
  return 0;
}

void clear_queues(Qp& qp) {
  purge_completions(cq_of(qp.qp_base.send_cq), qp.qp_base.qp_num);
  purge_completions(cq_of(qp.qp_base.recv_cq), qp.qp_base.qp_num);
  qp.staged = qp.posted = qp.executed = 0;
  qp.freed = 0;
  qp.receive_head = qp.receive_tail = 0;
  qp.broken = false;
}

void destroy_qp(Qp& qp) {
  State& all = state();
  if (!all.qps.contains(&qp)) misuse("ibv_destroy_qp", "the pair does not exist (freed twice?)");
  ibv_qp& base = qp.qp_base;
  if (!device_of(base.context).config.stale_completions) {
    purge_completions(cq_of(base.send_cq), base.qp_num);
    purge_completions(cq_of(base.recv_cq), base.qp_num);
  }
  forget_user(base.send_cq, qp);
  forget_user(base.recv_cq, qp);
  --static_cast<Pd*>(base.pd)->users;
  all.qp_by_index[base.handle] = nullptr;
  all.qps.destroy(qp, "ibv_destroy_qp");
}

bool port_active(const Qp& qp) {
  const auto& ports = device_of(qp.qp_base.context).config.ports;
  return ports[qp.attr.port_num - 1U].state == IBV_PORT_ACTIVE;
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  if (injected_errno("ibv_create_qp")) return nullptr;
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
  Qp* qp = create_qp(pd->context, full);
  if (qp == nullptr) return nullptr;
  init->cap = full.cap;
  return &qp->qp_base;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* base) {
  if (injected("ibv_qp_to_qp_ex") != 0) return nullptr;
  Qp& qp = qp_of(base);
  return qp.extended ? &qp : nullptr;
}

int ibv_modify_qp(ibv_qp* base, ibv_qp_attr* attr, int mask) {
  if (const int error = injected("ibv_modify_qp")) return error;
  const auto lock = lock_state();
  return modify_qp(qp_of(base), *attr, mask);
}

int ibv_query_qp(ibv_qp* base, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  if (const int error = injected("ibv_query_qp")) return error;
  const auto lock = lock_state();
  Qp& qp = qp_of(base);
  *attr = qp.attr;
  attr->qp_state = attr->cur_qp_state = base->state = qp.actual;
  attr->cap = qp.cap;
  *init = {};
  init->qp_context = base->qp_context;
  init->send_cq = base->send_cq;
  init->recv_cq = base->recv_cq;
  init->cap = qp.cap;
  init->qp_type = base->qp_type;
  init->sq_sig_all = qp.signal_all ? 1 : 0;
  return 0;
}

int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
  return 0;
}

int ibv_destroy_qp(ibv_qp* base) {
  if (const int error = injected("ibv_destroy_qp")) return error;
  const auto lock = lock_state();
  destroy_qp(qp_of(base));
  return 0;
}
