#include "transport/verbs/completion_poller.hpp"

#include <array>
#include <cerrno>

namespace oriel::verbs {
namespace {

constexpr std::size_t kBatch = 16;

}  // namespace

[[gnu::hot]] std::size_t poll_completions(CompletionQueue& cq, EndpointTable endpoints) noexcept {
  std::size_t finished = 0;
  std::array<ibv_wc, kBatch> completions;
  int found = 0;
  do {
    found = ibv_poll_cq(cq.get(), static_cast<int>(completions.size()), completions.data());
    if (found < 0) {
      for (const auto& endpoint : endpoints) {
        if (endpoint != nullptr) endpoint->device_failed("ibv_poll_cq", EIO);
      }
      return finished;
    }
    for (const ibv_wc& wc : std::span(completions).first(static_cast<std::size_t>(found))) {
      finished += deliver(wc, endpoints);
    }
  } while (found == static_cast<int>(completions.size()));
  cq.was_empty();
  return finished;
}

}  // namespace oriel::verbs
