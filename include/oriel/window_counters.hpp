#pragma once

#include <cstdint>

namespace oriel {

/// What a rank's operations on a window have cost it on the way to other machines, since the window
/// was made. What a CPU does by itself on memory of its own machine costs none of these. The
/// messages of fence, locks and post/start/complete/wait are not counted here: their numbers are
/// fixed, see Window.
struct WindowCounters {
  std::uint64_t work_requests = 0;  ///< handed to the device [ibv_post_send]
  std::uint64_t doorbells = 0;      ///< calls that did so: fewer, where requests were chained
  std::uint64_t completions = 0;    ///< that the device reported [ibv_poll_cq]
  std::uint64_t inline_bytes = 0;   ///< sent within the request [IBV_SEND_INLINE]
  std::uint64_t bounce_bytes = 0;   ///< copied, as the program's memory is not registered
  std::uint64_t retries = 0;        ///< attempts that found no room: the operation waited
};

}  // namespace oriel
