#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "transport/verbs/completion_queue.hpp"
#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

/// Takes what the device has completed and tells the endpoints, which are indexed by rank (the
/// upper half of a wr_id). Returns how many operations that finished. Never waits.
std::size_t poll_completions(CompletionQueue& cq,
                             std::span<const std::unique_ptr<VerbsEndpoint>> endpoints) noexcept;

}  // namespace oriel::verbs
