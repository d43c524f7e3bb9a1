#include "base/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace oriel::base {

// FUTEX_WAIT and FUTEX_WAKE without the private flag: sleepers and ringers are of different
// processes.
void Doorbell::wake() noexcept {
  rings_.fetch_add(1, std::memory_order_acq_rel);
  ::syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Doorbell::wait(std::uint32_t seen, std::chrono::microseconds limit) noexcept {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  const std::timespec timeout{.tv_sec = limit.count() / kMicroseconds,
                              .tv_nsec = limit.count() % kMicroseconds * 1000};
  ::syscall(SYS_futex, &rings_, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

}  // namespace oriel::base
