#include <algorithm>
#include <bit>
#include <cerrno>

#include "fabric_state.hpp"

namespace oriel::fake_verbs {
namespace {

constexpr auto kRelease = std::memory_order_release;

/// Gives back the send queue's slots up to the request that this completion belongs to.
void free_slots(const Cqe& cqe) {
  if (cqe.send_index == Cqe::kReceive) return;
  Qp* qp = state().find_qp(cqe.wc.qp_num);
  if (qp != nullptr) qp->freed.store(cqe.send_index + 1, kRelease);
}

Cqe take(Cq& cq) {
  const Cqe cqe = cq.ring[cq.head % cq.ring.size()];
  ++cq.head;
  cq.ready.store(cq.tail - cq.head, kRelease);
  free_slots(cqe);
  return cqe;
}

bool nothing_to_poll(const Cq& cq) {
  return cq.ready.load(std::memory_order_acquire) == 0 &&
         state().delivery.load(std::memory_order_relaxed) != Delivery::on_poll;
}

int start_poll(ibv_cq_ex* base, ibv_poll_cq_attr* attr) {
  if (attr != nullptr && attr->comp_mask != 0) return EINVAL;
  Cq& cq = static_cast<Cq&>(*base);
  const auto lock = lock_state();
  if (state().delivery == Delivery::on_poll) run_senders(cq);
  if (cq.ready == 0) return ENOENT;
  cq.current = take(cq);
  cq.status = cq.current.wc.status;
  cq.wr_id = cq.current.wc.wr_id;
  return 0;
}

const ibv_wc& current(ibv_cq_ex* cq) {
  return static_cast<Cq&>(*cq).current.wc;
}

void install_poll_ops(Cq& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = [](ibv_cq_ex* base) { return start_poll(base, nullptr); };
  cq.end_poll = [](ibv_cq_ex*) {};
  cq.read_opcode = [](ibv_cq_ex* base) { return current(base).opcode; };
  cq.read_vendor_err = [](ibv_cq_ex* base) { return current(base).vendor_err; };
  cq.read_byte_len = [](ibv_cq_ex* base) { return current(base).byte_len; };
  cq.read_imm_data = [](ibv_cq_ex* base) { return current(base).imm_data; };
  cq.read_qp_num = [](ibv_cq_ex* base) { return current(base).qp_num; };
  cq.read_src_qp = [](ibv_cq_ex* base) { return current(base).src_qp; };
  cq.read_wc_flags = [](ibv_cq_ex* base) { return current(base).wc_flags; };
}

std::size_t granted_entries(const Device& config, std::size_t asked) {
  return config.round_up_queues ? std::bit_ceil(asked + 1) - 1 : asked;
}

Cq* create_cq(ibv_context* context, std::uint32_t entries, void* user, ibv_comp_channel* channel) {
  const auto& config = device_of(context).config;
  if (entries == 0 || entries > static_cast<std::uint32_t>(config.max_cqe)) {
    return fail_with<Cq*>(EINVAL, nullptr);
  }
  if (state().cqs.size() >= static_cast<std::size_t>(config.max_cq)) {
    return fail_with<Cq*>(ENOMEM, nullptr);
  }
  Cq& cq = state().cqs.make();
  cq.context = context;
  cq.channel = channel;
  cq.cq_context = user;
  cq.ring.resize(granted_entries(config, entries));
  cq.cqe = static_cast<int>(cq.ring.size());
  if (channel != nullptr) ++channel->refcnt;
  install_poll_ops(cq);
  return &cq;
}

void report_overrun(Cq& cq) {
  ++state().statistics.cq_overruns;
  if (cq.overrun) return;
  cq.overrun = true;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_CQ_ERR;
  event.element.cq = base_of(cq);
  context_of(cq.context).async_events.push(event);
}

}  // namespace

void push_completion(Cq& cq, const Cqe& cqe, bool solicited) {
  auto& counters = state().statistics;
  ++counters.completions;
  if (cqe.wc.status != IBV_WC_SUCCESS) ++counters.error_completions;
  if (cq.tail - cq.head == cq.ring.size()) return report_overrun(cq);
  cq.ring[cq.tail % cq.ring.size()] = cqe;
  ++cq.tail;
  cq.ready.store(cq.tail - cq.head, kRelease);
  if (cq.armed && cq.channel != nullptr && (solicited || !cq.armed_solicited_only)) {
    cq.armed = false;
    static_cast<CompChannel*>(cq.channel)->events.push(&cq);
  }
}

void purge_completions(Cq& cq, std::uint32_t qp_num) {
  std::uint64_t kept = cq.head;
  for (std::uint64_t i = cq.head; i != cq.tail; ++i) {
    const Cqe& cqe = cq.ring[i % cq.ring.size()];
    if (cqe.wc.qp_num != qp_num) cq.ring[kept++ % cq.ring.size()] = cqe;
  }
  cq.tail = kept;
  cq.ready.store(cq.tail - cq.head, kRelease);
}

int poll_cq(ibv_cq* base, int count, ibv_wc* completions) {
  Cq& cq = cq_of(base);
  if (injected("ibv_poll_cq") != 0) return -1;
  if (nothing_to_poll(cq)) return 0;
  const auto lock = lock_state();
  if (state().delivery == Delivery::on_poll) run_senders(cq);
  int taken = 0;
  for (; taken < count && cq.head != cq.tail; ++taken) completions[taken] = take(cq).wc;
  return taken;
}

int request_notification(ibv_cq* base, int solicited_only) {
  if (const int error = injected("ibv_req_notify_cq")) return error;
  const auto lock = lock_state();
  Cq& cq = cq_of(base);
  cq.armed_solicited_only = solicited_only != 0 && (!cq.armed || cq.armed_solicited_only);
  cq.armed = true;
  return 0;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init) {
  if (injected_errno("ibv_create_cq_ex")) return nullptr;
  constexpr std::uint64_t known =
      IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP;
  if ((init->wc_flags & ~known) != 0) return fail_with<ibv_cq_ex*>(EOPNOTSUPP, nullptr);
  const auto lock = lock_state();
  return create_cq(context, init->cqe, init->cq_context, init->channel);
}

}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (injected_errno("ibv_create_comp_channel")) return nullptr;
  const auto lock = lock_state();
  CompChannel& channel = state().comp_channels.make();
  channel.context = context;
  channel.fd = channel.events.fd();
  return &channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (const int error = injected("ibv_destroy_comp_channel")) return error;
  const auto lock = lock_state();
  if (channel->refcnt != 0) return EBUSY;
  state().comp_channels.destroy(static_cast<CompChannel&>(*channel), "ibv_destroy_comp_channel");
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* user, ibv_comp_channel* channel,
                      int vector) {
  if (injected_errno("ibv_create_cq")) return nullptr;
  if (entries <= 0 || vector < 0 || vector >= context->num_comp_vectors) {
    return fail_with<ibv_cq*>(EINVAL, nullptr);
  }
  const auto lock = lock_state();
  Cq* cq = create_cq(context, static_cast<std::uint32_t>(entries), user, channel);
  return cq == nullptr ? nullptr : base_of(*cq);
}

int ibv_resize_cq(ibv_cq* base, int entries) {
  if (const int error = injected("ibv_resize_cq")) return error;
  const auto lock = lock_state();
  Cq& cq = cq_of(base);
  const auto& config = device_of(cq.context).config;
  if (entries <= 0 || entries > config.max_cqe) return EINVAL;
  const auto size = granted_entries(config, static_cast<std::size_t>(entries));
  const std::uint64_t waiting = cq.tail - cq.head;
  if (size < waiting) return EINVAL;
  std::vector<Cqe> ring(size);
  for (std::uint64_t i = 0; i < waiting; ++i) ring[i] = cq.ring[(cq.head + i) % cq.ring.size()];
  cq.ring = std::move(ring);
  cq.head = 0;
  cq.tail = waiting;
  cq.cqe = static_cast<int>(size);
  return 0;
}

int ibv_destroy_cq(ibv_cq* base) {
  if (const int error = injected("ibv_destroy_cq")) return error;
  auto lock = lock_state();
  Cq& cq = cq_of(base);
  if (!state().cqs.contains(&cq))
    misuse("ibv_destroy_cq", "the queue does not exist (freed twice?)");
  if (!cq.users.empty()) return EBUSY;
  if (cq.channel != nullptr) {
    static_cast<CompChannel*>(cq.channel)->events.remove_if([&](Cq* of) { return of == &cq; });
  }
  wait_acknowledged(lock, cq.unacknowledged, "ibv_destroy_cq");
  if (cq.channel != nullptr) --cq.channel->refcnt;
  state().cqs.destroy(cq, "ibv_destroy_cq");
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** user) {
  if (injected_errno("ibv_get_cq_event")) return -1;
  auto lock = lock_state();
  const auto event = static_cast<CompChannel*>(channel)->events.pop(lock);
  if (!event) return -1;
  ++(*event)->unacknowledged;
  *cq = base_of(**event);
  *user = (*event)->cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* base, unsigned count) {
  const auto lock = lock_state();
  Cq& cq = cq_of(base);
  if (count > cq.unacknowledged) misuse("ibv_ack_cq_events", "more events than were got");
  cq.unacknowledged -= count;
  state().acknowledged.notify_all();
}
