#include "transport/verbs/connection_origin.hpp"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "transport/verbs/verbs_call.hpp"

namespace oriel::verbs {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestPause = 1000ms;
constexpr int kResolveMilliseconds = 2000;
constexpr int kNobodyListens = 8;  // IB_CM_REJ_INVALID_SERVICE_ID

}  // namespace

std::uint8_t ack_timeout(int peer_timeout_seconds) noexcept {
  const double tries = peer_timeout_seconds / ((kRetries + 1) * 4.096e-6);
  return static_cast<std::uint8_t>(std::clamp(std::floor(std::log2(tries)), 1.0, 31.0));
}

ConnectionOrigin::ConnectionOrigin(CmChannel& channel, const OriginSettings& settings,
                                   int target_rank, const PeerAddress& target)
    : channel_(channel),
      settings_(settings),
      target_(target),
      hello_{.job_nonce = settings.job_nonce,
             .origin_rank = settings.rank,
             .target_rank = target_rank,
             .target_incarnation = target.incarnation} {
  if (target_.family != settings_.source.ss_family) {
    give_up(
        fmt::format("{} and this rank's {} are of different families (IPv4 and IPv6); "
                    "ORIEL_GID_INDEX chooses the same on all hosts",
                    to_string(target_.socket_address()), to_string(settings_.source)));
    return;
  }
  attempt();
}

void ConnectionOrigin::dispatch(CmChannel& channel) {
  while (const auto event = channel.next()) {
    static_cast<ConnectionOrigin*>(event->id->context)->handle(*event);
  }
}

ConnectionOrigin::State ConnectionOrigin::advance() {
  dispatch(channel_);
  if (state_ != State::connecting) return state_;
  const auto now = Clock::now();
  if (now - started_ >= settings_.patience) {
    peer_is_silent_ = true;
    give_up(problem_);
  } else if (retry_at_ && now >= *retry_at_) {
    attempt();
  }
  return state_;
}

ConnectionOrigin::State ConnectionOrigin::wait() {
  while (advance() == State::connecting) {
    const auto until =
        std::min(started_ + settings_.patience, retry_at_.value_or(Clock::time_point::max()));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd readable{channel_.fd(), POLLIN, 0};
    ::poll(&readable, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  }
  return state_;
}

void ConnectionOrigin::attempt() {
  retry_at_.reset();
  ++attempts_;
  poster_.reset();
  try {
    id_ = make_cm_id(channel_, this);
    std::uint8_t timeout = settings_.ack_timeout;
    if (rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
                        sizeof timeout) != 0) {
      base::log(base::LogLevel::info,
                "verbs: no acknowledge timeout of our own ({}): a dead peer may be noticed late",
                base::errno_text(errno));
    }
    sockaddr_storage source = settings_.source;  // so that the CM takes our device and no other
    sockaddr_storage target = target_.socket_address();
    check_call(rdma_resolve_addr(id_.get(), reinterpret_cast<sockaddr*>(&source),
                                 reinterpret_cast<sockaddr*>(&target), kResolveMilliseconds),
               "rdma_resolve_addr");
  } catch (const Error& error) {
    errno_ = error.details().system_errno;
    give_up(error.details().problem);
  }
}

void ConnectionOrigin::handle(const CmEvent& event) {
  if (event.id != id_.get()) return;
  try {
    take_step(event);
  } catch (const Error& error) {
    errno_ = error.details().system_errno;
    give_up(error.details().problem);
  }
}

void ConnectionOrigin::take_step(const CmEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      check_call(rdma_resolve_route(id_.get(), kResolveMilliseconds), "rdma_resolve_route");
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      request_connection();
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      state_ = State::established;
      break;
    case RDMA_CM_EVENT_REJECTED:
      rejected(event);
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      retry_later(fmt::format("{}, status {}", rdma_event_str(event.type), event.status));
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      base::log(base::LogLevel::debug, "verbs: rank {} closed its side of the connection",
                hello_.target_rank);
      if (!closed_at_) closed_at_ = Clock::now();
      break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      if (state_ == State::connecting) give_up("the device was removed");
      break;
    default:
      break;  // TIMEWAIT_EXIT, ADDR_CHANGE: nothing depends on them
  }
}

void ConnectionOrigin::request_connection() {
  const auto wr_id_base = static_cast<std::uint64_t>(hello_.target_rank) << 32U;
  poster_ = WorkRequestPoster::create(id_.get(), settings_.pd, settings_.cq, settings_.depth,
                                      settings_.inline_bytes, wr_id_base, settings_.where);
  rdma_conn_param param{};
  param.private_data = &hello_;
  param.private_data_len = sizeof hello_;
  param.initiator_depth = settings_.initiator_depth;  // zero would mean: no reads, no atomics
  param.responder_resources = 1;                      // the peer never asks on this queue pair
  param.retry_count = kRetries;
  param.rnr_retry_count = kRetries;
  check_call(rdma_connect(id_.get(), &param), "rdma_connect");
}

void ConnectionOrigin::rejected(const CmEvent& event) {
  const auto rejection = event.data_as<Rejection>();
  if (rejection && rejection->magic == kHelloMagic) {
    give_up(fmt::format(
        "rejected: {}{}", to_string(rejection->reason),
        rejection->system_errno != 0 ? ": " + base::errno_text(rejection->system_errno) : ""));
  } else if (event.status == kNobodyListens) {
    retry_later("rejected: nobody listens there, so the process has ended");
  } else {
    retry_later(fmt::format("rejected with status {}, as by a peer with too many requests at once",
                            event.status));
  }
}

void ConnectionOrigin::retry_later(std::string problem) {
  problem_ = std::move(problem);
  id_.reset();
  retry_at_ = Clock::now() + pause_;
  pause_ = std::min<std::chrono::milliseconds>(2 * pause_, kLongestPause);
}

void ConnectionOrigin::give_up(std::string problem) {
  problem_ = std::move(problem);
  state_ = State::failed;
  poster_.reset();
  id_.reset();
}

std::string ConnectionOrigin::problem() const {
  const std::chrono::duration<double> elapsed = Clock::now() - started_;
  return fmt::format("no connection to {} on {}: {} ({} attempt{} in {:.1f} s)",
                     to_string(target_.socket_address()), target_.device_name(), problem_,
                     attempts_, attempts_ == 1 ? "" : "s", elapsed.count());
}

}  // namespace oriel::verbs
