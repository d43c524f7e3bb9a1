#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/verbs/cm_event.hpp"
#include "transport/verbs/connection_hello.hpp"
#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/verbs_handles.hpp"
#include "transport/verbs/work_request_poster.hpp"

namespace oriel::verbs {

/// Soft-RoCE takes 7 as "for ever"; 6 is the most that ends everywhere.
inline constexpr std::uint8_t kRetries = 6;

/// The exponent of the acknowledge timeout, 4.096 us * 2^t a try, that makes kRetries + 1 tries fit
/// into the peer timeout. (Hardware may stretch a try up to four-fold.)
[[nodiscard]] std::uint8_t ack_timeout(int peer_timeout_seconds) noexcept;

/// What all outgoing connections of a process have in common.
struct OriginSettings {
  std::string where{};  ///< "rxe0 port 1"
  sockaddr_storage source{};
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  std::uint32_t depth = 0;
  std::uint32_t inline_bytes = 0;
  std::uint8_t initiator_depth = 1;  ///< reads and atomics in flight
  std::uint8_t ack_timeout = 17;
  std::chrono::milliseconds patience{10000};  ///< for all attempts together
  std::uint64_t job_nonce = 0;
  int rank = 0;
};

/// The way from "never met" to a queue pair that can be posted to: address, route, queue pair,
/// request; again after a pause when the peer was too busy to answer. Never blocks but in wait().
///
/// All connections of a process share one channel, read by the thread that uses the transport:
/// nothing here is touched by the agent thread.
class ConnectionOrigin {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { connecting, established, failed };

  /// Makes the first step. `settings` and `channel` outlive the connection.
  ConnectionOrigin(CmChannel& channel, const OriginSettings& settings, int target_rank,
                   const PeerAddress& target);
  ConnectionOrigin(const ConnectionOrigin&) = delete;
  ConnectionOrigin& operator=(const ConnectionOrigin&) = delete;

  /// Takes what the connection manager has to say to any connection on the channel.
  static void dispatch(CmChannel& channel);

  /// Goes on as far as possible now.
  State advance();
  /// Sleeps until the connection is made or given up.
  State wait();
  [[nodiscard]] State state() const noexcept { return state_; }

  /// Since when the peer's side is known to be gone.
  [[nodiscard]] std::optional<Clock::time_point> closed_at() const noexcept { return closed_at_; }
  /// Requires: established.
  [[nodiscard]] const WorkRequestPoster& poster() const noexcept { return *poster_; }
  /// Why there is no connection: "rejected by 10.77.0.2:4711 …, 5 attempts in 10.0 s".
  [[nodiscard]] std::string problem() const;
  /// It failed as the peer did not answer in time (not by a fault on this side, nor by a refusal).
  [[nodiscard]] bool peer_is_silent() const noexcept { return peer_is_silent_; }
  /// errno of a local call that failed, if that was the cause.
  [[nodiscard]] std::optional<int> system_errno() const noexcept { return errno_; }

 private:
  void attempt();
  void handle(const CmEvent& event);
  void take_step(const CmEvent& event);
  void request_connection();
  void rejected(const CmEvent& event);
  void retry_later(std::string problem);
  void give_up(std::string problem);

  CmChannel& channel_;
  const OriginSettings& settings_;
  PeerAddress target_;
  Hello hello_;
  State state_ = State::connecting;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> retry_at_;
  std::chrono::milliseconds pause_{50};
  int attempts_ = 0;
  std::string problem_ = "no answer";
  std::optional<int> errno_;
  bool peer_is_silent_ = false;
  std::optional<Clock::time_point> closed_at_;
  CmIdHandle id_;
  std::optional<WorkRequestPoster> poster_;
};

}  // namespace oriel::verbs
