#include "transport/verbs/connection_listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/signals_blocked.hpp"
#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/verbs_call.hpp"

namespace oriel::verbs {
namespace {

constexpr int kBacklog = 1024;

std::optional<RejectReason> judge(const std::optional<Hello>& hello,
                                  const ListenerIdentity& identity) {
  if (!hello || hello->magic != kHelloMagic) return RejectReason::not_oriel;
  if (hello->version != kHelloVersion) return RejectReason::other_version;
  if (hello->job_nonce != identity.job_nonce) return RejectReason::other_job;
  if (hello->target_incarnation != identity.incarnation) return RejectReason::other_incarnation;
  if (hello->target_rank != identity.rank) return RejectReason::other_rank;
  return std::nullopt;
}

std::string peer_text(rdma_cm_id* id) {
  return to_string(id->route.addr.dst_storage);
}

}  // namespace

ListeningAddress::ListeningAddress(const DeviceChoice& choice)
    : id_(make_cm_id(channel_, nullptr)) {
  sockaddr_storage any_port = choice.local_address;
  check_call(rdma_bind_addr(id_.get(), reinterpret_cast<sockaddr*>(&any_port)), "rdma_bind_addr",
             choice.where());
  const std::string bound =
      id_->verbs != nullptr ? ibv_get_device_name(id_->verbs->device) : "no device";
  if (bound == choice.device.name) return;
  base::throw_error(ErrorCode::no_device,
                    {.operation = "verbs set-up",
                     .problem = "the connection manager finds " + bound + " behind address " +
                                to_string(choice.local_address),
                     .device = choice.where(),
                     .hint = "another interface has the same address; choose with ORIEL_DEVICE and "
                             "ORIEL_GID_INDEX"});
}

std::uint16_t ListeningAddress::port() const noexcept {
  return ntohs(rdma_get_src_port(id_.get()));
}

ConnectionListener::ConnectionListener(ListeningAddress& address, ibv_pd* pd,
                                       ListenerIdentity identity)
    : address_(address),
      pd_(pd),
      identity_(std::move(identity)),
      cq_(check_made<CqHandle>(ibv_create_cq(address.context(), 1, nullptr, nullptr, 0),
                               "ibv_create_cq", identity_.where)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw_failed_call("eventfd", errno);
  check_call(rdma_listen(address_.id_.get(), kBacklog), "rdma_listen", identity_.where);
  const base::SignalsBlocked blocked;
  agent_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void ConnectionListener::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { ::eventfd_write(wake_.get(), 1); });
  std::array<pollfd, 2> fds{pollfd{address_.channel_.fd(), POLLIN, 0},
                            pollfd{wake_.get(), POLLIN, 0}};
  while (!stop.stop_requested()) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) {
      base::log(base::LogLevel::error, "verbs: the listener stops: poll: {}",
                base::errno_text(errno));
      return;
    }
    while (const auto event = address_.channel_.next()) {
      try {
        handle(*event);
      } catch (const std::exception& error) {
        base::log(base::LogLevel::error, "verbs: the listener: {}", error.what());
      }
    }
  }
}

void ConnectionListener::handle(const CmEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      answer_request(event);
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      base::log(base::LogLevel::error, "verbs: {} was removed", identity_.where);
      responders_.erase(event.id);
      break;
    default:
      // DISCONNECTED, TIMEWAIT_EXIT, or an origin that gave up half-way. The peer ended or died;
      // whoever depends on it learns that from its own connection.
      base::log(base::LogLevel::debug, "verbs: a peer's connection ended: {}",
                rdma_event_str(event.type));
      responders_.erase(event.id);
      break;
  }
}

void ConnectionListener::answer_request(const CmEvent& event) {
  CmIdHandle id(event.id);
  const auto hello = event.data_as<Hello>();
  if (const auto reason = judge(hello, identity_)) {
    base::log(base::LogLevel::warning, "verbs: connection from {} rejected: {}",
              peer_text(id.get()), to_string(*reason));
    reject(id.get(), *reason, 0);
    return;
  }
  accept(std::move(id), *hello, event.responder_resources);
}

void ConnectionListener::accept(CmIdHandle id, const Hello& hello, std::uint8_t wanted_resources) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_.get();
  init.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  init.qp_type = IBV_QPT_RC;
  rdma_conn_param param{};
  param.responder_resources = std::min(wanted_resources, identity_.max_responder_resources);
  param.initiator_depth = 1;
  param.rnr_retry_count = 6;
  rdma_cm_id* const raw = id.get();
  if (rdma_create_qp(raw, pd_, &init) != 0) {
    const int error = errno;
    base::log(base::LogLevel::warning, "verbs: no queue pair for rank {}, the {}th connection: {}",
              hello.origin_rank, responders_.size() + 1, base::errno_text(error));
    reject(raw, RejectReason::no_resources, error);
    return;
  }
  responders_.emplace(raw, std::move(id));
  if (rdma_accept(raw, &param) != 0) {
    base::log(base::LogLevel::debug, "verbs: rank {} could not be accepted: {}", hello.origin_rank,
              base::errno_text(errno));
    responders_.erase(raw);  // the origin hears of it by a reject, and tries again
  }
}

void ConnectionListener::reject(rdma_cm_id* id, RejectReason reason, int error) {
  const Rejection rejection{.reason = reason, .system_errno = error};
  if (rdma_reject(id, &rejection, sizeof rejection) != 0) {
    base::log(base::LogLevel::debug, "verbs: rdma_reject: {}", base::errno_text(errno));
  }
}

}  // namespace oriel::verbs
