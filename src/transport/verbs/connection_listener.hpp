#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/unique_fd.hpp"
#include "transport/verbs/cm_event.hpp"
#include "transport/verbs/connection_hello.hpp"
#include "transport/verbs/device_choice.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {

/// An address of this process, held but not listened at yet. Its id brings the CM's own context of
/// the device, on which everything that meets CM ids must be made.
class ListeningAddress {
 public:
  explicit ListeningAddress(const DeviceChoice& choice);
  [[nodiscard]] ibv_context* context() const noexcept { return id_->verbs; }
  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  friend class ConnectionListener;
  CmChannel channel_;
  CmIdHandle id_;
};

/// Whom a listener stands for.
struct ListenerIdentity {
  int rank = 0;
  std::uint64_t job_nonce = 0;
  std::uint64_t incarnation = 0;
  std::uint8_t max_responder_resources = 1;
  std::string where{};  ///< "rxe0 port 1"
};

/// Accepts the peers' connections while the application computes.
///
/// The origin of a connection does everything; this side's queue pair only answers, so it has the
/// smallest queues there are and nobody ever posts to it or polls for it. An agent thread, asleep
/// in poll() until the connection manager has news, makes it and destroys it when the peer
/// disconnects or dies. The thread touches nothing but this object, and the protection domain.
class ConnectionListener {
 public:
  ConnectionListener(ListeningAddress& address, ibv_pd* pd, ListenerIdentity identity);

 private:
  void run(const std::stop_token& stop);
  void handle(const CmEvent& event);
  void answer_request(const CmEvent& event);
  void accept(CmIdHandle id, const Hello& hello, std::uint8_t wanted_resources);
  void reject(rdma_cm_id* id, RejectReason reason, int error);

  ListeningAddress& address_;
  ibv_pd* pd_;
  ListenerIdentity identity_;
  CqHandle cq_;  ///< of all responders; nothing ever completes here
  std::unordered_map<rdma_cm_id*, CmIdHandle> responders_;
  base::UniqueFd wake_;
  std::jthread agent_;  ///< last: joined before the rest goes
};

}  // namespace oriel::verbs
