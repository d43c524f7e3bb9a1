#include "transport/verbs/verbs_endpoint.hpp"

#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "transport/verbs/completion_status.hpp"

namespace oriel::verbs {
namespace {

using namespace std::chrono_literals;

/// A peer that closed its side and is still waited for this much later is not just ending sooner:
/// what it wrote last has had the time to be seen.
constexpr auto kClosedGrace = 1s;

}  // namespace

VerbsEndpoint::VerbsEndpoint(EndpointServices& services, int rank, std::string host,
                             const PeerAddress& peer)
    : cq_(services.cq), services_(services), rank_(rank), host_(std::move(host)), peer_(peer) {}

void VerbsEndpoint::start_connecting() noexcept {
  if (const auto death = services_.health.find(rank_)) {
    fail(State::dead, ErrorCode::peer_lost, {.operation = "connect", .problem = death->how});
    return;
  }
  try {
    send_ = std::make_unique<SendSide>(services_, rank_, peer_);
    state_ = State::connecting;
  } catch (const Error& error) {
    fail(State::broken, static_cast<ErrorCode>(error.code().value()), error.details());
  }
}

void VerbsEndpoint::settle_connection() noexcept {
  const ConnectionOrigin& connection = *send_->connection;
  switch (connection.state()) {
    case ConnectionOrigin::State::connecting:
      break;
    case ConnectionOrigin::State::established:
      state_ = State::ready;
      ready_ = send_.get();
      uncorked_ = is_corked_ ? nullptr : ready_;
      base::log(base::LogLevel::debug, "verbs: connected to rank {} ({}): {}", rank_, host_,
                describe());
      break;
    case ConnectionOrigin::State::failed:
      fail(connection.peer_is_silent() ? State::dead : State::broken, ErrorCode::connection_failed,
           {.operation = "connect",
            .problem = connection.problem(),
            .system_errno = connection.system_errno(),
            .hint = "is the process there alive? can the two RDMA interfaces reach each other "
                    "(ping from one address to the other, rping)? do both hosts use the same "
                    "network (ORIEL_DEVICE, ORIEL_GID_INDEX)?"});
      break;
  }
}

void VerbsEndpoint::connect() noexcept {
  if (state_ == State::unconnected) start_connecting();
  if (state_ != State::connecting) return;
  send_->connection->wait();
  settle_connection();
}

void VerbsEndpoint::probe() noexcept {
  if (state_ == State::unconnected) start_connecting();
  if (state_ == State::connecting) {
    send_->connection->advance();
    settle_connection();
  }
  if (!is_ready()) return;
  ConnectionOrigin::dispatch(services_.channel);
  const auto closed_at = send_->connection->closed_at();
  if (closed_at && ConnectionOrigin::Clock::now() - *closed_at > kClosedGrace) {
    fail(State::dead, ErrorCode::peer_lost,
         {.operation = "probe",
          .problem = "the peer closed its side of the connection and is still waited for",
          .hint = "its process has ended; its own messages say why"});
    return;
  }
  if (send_->ledger.outstanding() > 0) {
    post_staged();  // these will tell
  } else if (cq_.has_credit()) {
    post_empty_write(Operation::probe, own_done_);
  }
}

void VerbsEndpoint::finish_up() noexcept {
  if (!is_ready()) return;
  if (send_->ledger.outstanding() > 0 && send_->connection->closed_at()) {
    fail(State::dead, ErrorCode::peer_lost,
         {.operation = "shutdown", .problem = "the peer ended before its last operations did"});
  } else {
    static_cast<void>(seal(own_done_));  // no room: the next turn
  }
}

std::uint32_t VerbsEndpoint::completed_in_error(std::uint32_t number, const ibv_wc& wc) noexcept {
  if (send_ == nullptr || !send_->ledger.is_in_flight(number)) return 0;
  // The first bad completion of a connection names the culprit; what was posted before it is done.
  std::uint32_t count = 0;
  if (send_->ledger.is_in_flight(number - 1)) count = completed(number - 1);
  const WorkRecord& culprit = send_->ledger.record(number);
  const StatusText status = status_text(wc.status);
  const bool lost = means_peer_lost(wc.status) ||
                    (wc.status == IBV_WC_WR_FLUSH_ERR && send_->connection->closed_at());
  return count + fail(lost ? State::dead : State::broken,
                      lost ? ErrorCode::peer_lost : ErrorCode::transport_failed,
                      {.operation = std::string(to_string(culprit.operation)),
                       .problem = fmt::format("completion failed at address {:#x}: {}",
                                              culprit.remote_address, status.name),
                       .length_bytes = culprit.length,
                       .work_completion_status = static_cast<int>(wc.status),
                       .vendor_error = wc.vendor_err,
                       .hint = std::string(status.hint)});
}

void VerbsEndpoint::device_failed(std::string_view call, int error) noexcept {
  fail(State::broken, ErrorCode::transport_failed,
       {.operation = "verbs",
        .problem = fmt::format("{} failed", call),
        .system_errno = error,
        .hint = "the device or its driver failed: see the kernel's log (dmesg)"});
}

std::uint32_t VerbsEndpoint::fail(State state, ErrorCode code, ErrorDetails details) noexcept {
  if (failure_) return 0;
  details.origin = services_.origin.rank;
  details.target = rank_;
  details.target_host = host_;
  details.device = services_.origin.where;
  failure_.emplace(code, std::move(details));
  state_ = state;
  ready_ = uncorked_ = nullptr;
  // Who waits for the peer gets it as an exception; this is for the others.
  base::log(base::LogLevel::info, "{}", failure_->what());
  std::uint32_t count = 0;
  if (send_ != nullptr) {
    send_->connection.reset();  // no queue pair: the device has let go of all memory
    count = send_->ledger.retire_all([this](const WorkRecord& record) { abandon(record); });
    cq_.give_back_when_empty(count);
    send_.reset();
  }
  if (state == State::dead) services_.health.report_dead(rank_, failure_->what());
  return count;
}

void VerbsEndpoint::abandon(const WorkRecord& record) noexcept {
  if (record.holds_slot()) services_.bounce.release(record.local);
  record.done->failed(*failure_);
  record.done->finished(record.is_locally_done());
}

std::string VerbsEndpoint::describe() const {
  switch (state_) {
    case State::unconnected:
      return services_.device_text + ", not connected yet";
    case State::connecting:
      return services_.device_text + ", connecting";
    case State::broken:
    case State::dead:
      return fmt::format("{}, {}", services_.device_text, failure_->what());
    case State::ready:
      break;
  }
  const WorkRequestPoster& poster = send_->connection->poster();
  return fmt::format("{}, {}, inline {}, depth {}", services_.device_text, poster.interface_name(),
                     poster.max_inline(), send_->ledger.depth());
}

}  // namespace oriel::verbs
