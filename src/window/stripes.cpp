#include "window/stripes.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <oriel/shared_bytes.hpp>

#include "base/reduction.hpp"

namespace oriel::window {

/// Holds the lock of a stretch.
class Stripes::Held {
 public:
  Held(const Stripes& stripes, const Place& place)
      : word_(lock_of(*stripes.words_[place.team_rank], place.offset / kStretch)) {
    if (!try_lock()) wait(stripes.vigil_);
  }
  ~Held() {
    detail::has_stored = true;
    word_.store(0, std::memory_order_release);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  static constexpr unsigned kYieldsPerLook = 256;

  static std::uint32_t& lock_of(sync::ControlWords& words, std::size_t stretch) noexcept {
    return words.stretch_locks[stretch % words.stretch_locks.size()];
  }
  [[nodiscard]] bool try_lock() const noexcept {
    return word_.exchange(1) == 0;  // and a full barrier
  }
  /// Yields at once: who holds it needs a microsecond or less, or has no core.
  void wait(const sync::Vigil& vigil) const {
    for (unsigned round = 1;; ++round) {
      ::sched_yield();
      if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
      if (round % kYieldsPerLook == 0) vigil.check("accumulate");
    }
  }

  std::atomic_ref<std::uint32_t> word_;
};

inline void Stripes::reduce_stretch(ElementType type, OpCode op, const Place& target,
                                    const std::byte* operands, std::byte* results,
                                    std::size_t count) const {
  const Held held(*this, target);
  if (results != nullptr) std::memcpy(results, target.bytes, count * type.bytes);
  base::reduce(type, op, target.bytes, operands, count);
}

void Stripes::reduce(ElementType type, OpCode op, const Place& target, const std::byte* operands,
                     std::byte* results, std::size_t count) const {
  if (count * type.bytes <= kStretch - target.offset % kStretch) [[likely]]
    return reduce_stretch(type, op, target, operands, results, count);
  for (std::size_t done = 0; count != 0;) {  // bytes
    const Place rest{target.bytes + done, target.offset + done, target.team_rank};
    const std::size_t to_next = kStretch - rest.offset % kStretch;
    const std::size_t begin_here = std::min(count, (to_next + type.bytes - 1) / type.bytes);
    reduce_stretch(type, op, rest, operands != nullptr ? operands + done : nullptr,
                   results != nullptr ? results + done : nullptr, begin_here);
    count -= begin_here;
    done += begin_here * type.bytes;
  }
}

void Stripes::compare_and_swap(std::size_t bytes, const Place& target, const std::byte* compare,
                               const std::byte* swap, std::byte* result) const {
  const Held held(*this, target);
  const bool equal = std::memcmp(target.bytes, compare, bytes) == 0;
  std::memcpy(result, target.bytes, bytes);
  if (equal) std::memcpy(target.bytes, swap, bytes);
}

}  // namespace oriel::window
