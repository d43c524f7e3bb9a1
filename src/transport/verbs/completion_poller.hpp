#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/verbs/completion_queue.hpp"
#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

/// The endpoints of a lane, indexed by rank: the upper half of a wr_id.
using EndpointTable = std::span<const std::unique_ptr<VerbsEndpoint>>;

/// Takes what the device has completed and tells the endpoints. Returns how many operations that
/// finished. Never waits.
std::size_t poll_completions(CompletionQueue& cq, EndpointTable endpoints) noexcept;

/// Tells the endpoint of a completion; returns how many operations that finished. Of one in error
/// only wr_id, status, qp_num and vendor_err mean anything.
inline std::uint32_t deliver(const ibv_wc& wc, EndpointTable endpoints) noexcept {
  VerbsEndpoint& endpoint = *endpoints[wc.wr_id >> 32U];
  const auto number = static_cast<std::uint32_t>(wc.wr_id);
  if (wc.status == IBV_WC_SUCCESS) [[likely]]
    return endpoint.completed(number);
  return endpoint.completed_in_error(number, wc);
}

/// The first completion alone, if there is one: costs no more than the device's own call. What the
/// device reports otherwise is left to poll_completions().
inline void poll_one(CompletionQueue& cq, EndpointTable endpoints) noexcept {
  ibv_wc wc;
  if (ibv_poll_cq(cq.get(), 1, &wc) > 0) deliver(wc, endpoints);
}

}  // namespace oriel::verbs
