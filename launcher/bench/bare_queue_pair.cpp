#include "launcher/bench/bare_queue_pair.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <mpi.h>

#include "launcher/bench/subject.hpp"
#include "launcher/rdma_facts.hpp"

namespace oriel::bench {
namespace {

constexpr std::uint32_t kDepth = 256;
constexpr std::uint32_t kInline = 64;
constexpr std::uint32_t kMostBatch = 64;

/// For calls that return an errno value, or -1.
void check(int status, const char* call) {
  if (status != 0) throw std::runtime_error(fmt::format("floor: {} failed ({})", call, status));
}
template <class T>
T* check(T* made, const char* call) {
  if (made == nullptr) throw std::runtime_error(fmt::format("floor: {} failed", call));
  return made;
}

/// Of a request: the last one of a batch asks for its completion.
unsigned flags(bool is_last, bool is_inline) {
  return (is_last ? unsigned{IBV_SEND_SIGNALED} : 0U) |
         (is_inline ? unsigned{IBV_SEND_INLINE} : 0U);
}

/// The one that Oriel takes, too: looked for once, as every row has a queue pair of its own.
const verbs::DeviceChoice& chosen_device() {
  static const verbs::DeviceChoice choice = [] {
    const launcher::RdmaFacts facts = launcher::look_at_devices(
        topology::Topology::discover(), base::parse_options(base::environment_lines()));
    if (!facts.choice) throw std::runtime_error(facts.problem);
    return *facts.choice;
  }();
  return choice;
}

}  // namespace

BareQueuePair::BareQueuePair(const Stand& stand, std::size_t bytes) : memory_(bytes) {
  open_device();
  pd_.reset(check(ibv_alloc_pd(context_.get()), "ibv_alloc_pd"));
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  mr_.reset(check(ibv_reg_mr(pd_.get(), memory_.data(), bytes, kAccess), "ibv_reg_mr"));
  cq_.reset(check(ibv_create_cq(context_.get(), kDepth, nullptr, nullptr, 0), "ibv_create_cq"));
  make_queue_pair();
  own_.queue_pair = qp_->qp_num;
  own_.rkey = mr_->rkey;
  own_.memory = reinterpret_cast<std::uintptr_t>(memory_.data());
  // All ranks have one; those in between are connected to themselves.
  std::vector<Address> all(static_cast<std::size_t>(stand.ranks()));
  MPI_Allgather(&own_, sizeof own_, MPI_BYTE, all.data(), sizeof own_, MPI_BYTE, MPI_COMM_WORLD);
  const int peer = stand.rank() == 0                ? stand.target()
                   : stand.rank() == stand.target() ? 0
                                                    : stand.rank();
  remote_ = all[static_cast<std::size_t>(peer)];
  connect(remote_);
  MPI_Barrier(MPI_COMM_WORLD);
}

BareQueuePair::~BareQueuePair() {
  MPI_Barrier(MPI_COMM_WORLD);  // the target's memory stays until rank 0 is done
}

void BareQueuePair::open_device() {
  const verbs::DeviceChoice& choice = chosen_device();
  int count = 0;
  const verbs::DeviceListHandle list(check(ibv_get_device_list(&count), "ibv_get_device_list"));
  for (int i = 0; i < count; ++i) {
    if (choice.device.name == ibv_get_device_name(list.get()[i]))
      context_.reset(check(ibv_open_device(list.get()[i]), "ibv_open_device"));
  }
  check(context_.get(), "ibv_get_device_list");
  port_ = static_cast<std::uint8_t>(choice.port.number);
  gid_index_ = choice.gid.index;
  ibv_port_attr port{};
  check(ibv_query_port(context_.get(), port_, &port), "ibv_query_port");
  mtu_ = port.active_mtu;
  reads_ = static_cast<std::uint8_t>(std::clamp(choice.device.limits.max_qp_rd_atom, 1, 16));
  own_.lid = port.lid;
  std::ranges::copy(choice.gid.bytes, own_.gid);
}

void BareQueuePair::make_queue_pair() {
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = cq_.get();
  attributes.recv_cq = cq_.get();
  attributes.cap = {kDepth, 1, 1, 1, kInline};
  attributes.pd = pd_.get();
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attributes.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
                              IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                              IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
  qp_.reset(ibv_create_qp_ex(context_.get(), &attributes));
  if (qp_) {
    extended_ = ibv_qp_to_qp_ex(qp_.get());
  } else {
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    qp_.reset(check(ibv_create_qp_ex(context_.get(), &attributes), "ibv_create_qp_ex"));
  }
  max_inline_ = attributes.cap.max_inline_data;
}

void BareQueuePair::connect(const Address& peer) {
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = port_;
  init.qp_access_flags =
      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  check(ibv_modify_qp(qp_.get(), &init,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        "ibv_modify_qp to INIT");

  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = mtu_;
  receive.dest_qp_num = peer.queue_pair;
  receive.rq_psn = 1;
  receive.max_dest_rd_atomic = reads_;
  receive.min_rnr_timer = 12;
  receive.ah_attr.is_global = 1;
  std::copy_n(peer.gid, sizeof peer.gid, receive.ah_attr.grh.dgid.raw);
  receive.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  receive.ah_attr.grh.hop_limit = 64;
  receive.ah_attr.dlid = peer.lid;
  receive.ah_attr.port_num = port_;
  check(ibv_modify_qp(qp_.get(), &receive,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "ibv_modify_qp to RTR");

  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.timeout = 16;
  send.retry_cnt = 6;
  send.rnr_retry = 6;
  send.sq_psn = 1;
  send.max_rd_atomic = reads_;
  check(ibv_modify_qp(qp_.get(), &send,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
        "ibv_modify_qp to RTS");
}

void BareQueuePair::run(ibv_wr_opcode opcode, std::size_t bytes, std::size_t times, Manner manner) {
  manner.batch = std::min(manner.batch, kMostBatch);
  std::uint32_t under_way = 0;
  while (times > 0) {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(manner.batch, times));
    while (under_way + count > manner.depth) poll(under_way, manner.batch);
    post(opcode, bytes, count);
    under_way += count;
    times -= count;
  }
  while (under_way > 0) poll(under_way, manner.batch);
}

/// A completion says that a batch is done, or what is left of the last one.
void BareQueuePair::poll(std::uint32_t& under_way, std::uint32_t batch) {
  std::array<ibv_wc, 16> done;
  const int found = ibv_poll_cq(cq_.get(), static_cast<int>(done.size()), done.data());
  if (found < 0) check(found, "ibv_poll_cq");
  for (int i = 0; i < found; ++i) {
    const ibv_wc& one = done[static_cast<std::size_t>(i)];
    check(static_cast<int>(one.status), ibv_wc_status_str(one.status));
    under_way -= std::min(under_way, batch);
  }
}

void BareQueuePair::post(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count) {
  if (extended_ != nullptr) {
    post_extended(opcode, bytes, count);
  } else {
    post_chained(opcode, bytes, count);
  }
}

void BareQueuePair::post_extended(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count) {
  const bool is_inline = fits_inline(opcode, bytes);
  ibv_wr_start(extended_);
  for (std::uint32_t i = 0; i < count; ++i) {
    extended_->wr_id = i;
    extended_->wr_flags = flags(i + 1 == count, is_inline);
    if (opcode == IBV_WR_RDMA_WRITE) {
      ibv_wr_rdma_write(extended_, remote_.rkey, remote_.memory);
    } else if (opcode == IBV_WR_RDMA_READ) {
      ibv_wr_rdma_read(extended_, remote_.rkey, remote_.memory);
    } else if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      ibv_wr_atomic_fetch_add(extended_, remote_.rkey, remote_.memory, 1);
    } else {
      ibv_wr_atomic_cmp_swp(extended_, remote_.rkey, remote_.memory, 0, 0);
    }
    if (is_inline) {
      ibv_wr_set_inline_data(extended_, memory_.data(), bytes);
    } else {
      ibv_wr_set_sge(extended_, mr_->lkey, own_.memory, static_cast<std::uint32_t>(bytes));
    }
  }
  check(ibv_wr_complete(extended_), "ibv_wr_complete");
}

void BareQueuePair::post_chained(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count) {
  const bool is_inline = fits_inline(opcode, bytes);
  std::array<ibv_send_wr, kMostBatch> requests{};
  ibv_sge local = {own_.memory, static_cast<std::uint32_t>(bytes), mr_->lkey};
  for (std::uint32_t i = 0; i < count; ++i) {
    ibv_send_wr& request = requests[i];
    request.wr_id = i;
    request.next = i + 1 == count ? nullptr : &requests[i + 1];
    request.sg_list = &local;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = flags(i + 1 == count, is_inline);
    if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ) {
      request.wr.rdma.remote_addr = remote_.memory;
      request.wr.rdma.rkey = remote_.rkey;
    } else {
      request.wr.atomic.remote_addr = remote_.memory;
      request.wr.atomic.rkey = remote_.rkey;
      request.wr.atomic.compare_add = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 1 : 0;
    }
  }
  ibv_send_wr* refused = nullptr;
  check(ibv_post_send(qp_.get(), requests.data(), &refused), "ibv_post_send");
}

}  // namespace oriel::bench
