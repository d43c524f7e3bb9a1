#pragma once

#include <infiniband/verbs.h>

#include <string_view>

namespace oriel::verbs {

struct StatusText {
  std::string_view name;
  std::string_view hint;
};

/// What a work completion's status means to a user.
[[nodiscard]] StatusText status_text(ibv_wc_status status) noexcept;

/// The peer does not answer any more (as opposed to: it refused).
[[nodiscard]] constexpr bool means_peer_lost(ibv_wc_status status) noexcept {
  return status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_RESP_TIMEOUT_ERR;
}

}  // namespace oriel::verbs
