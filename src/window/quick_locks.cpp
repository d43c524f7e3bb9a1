#include "window/quick_locks.hpp"

#include <sched.h>

namespace oriel::window {

void QuickLocks::hint(std::uint64_t head) {
  const transport::Progress::Turn turn(progress_);
  locks_.hint(head);
}

void QuickLocks::meet_thread() noexcept {
  const void* first = first_thread_.load(std::memory_order_relaxed);
  if (first == nullptr && first_thread_.compare_exchange_strong(first, base::this_thread())) return;
  if (settled_.load(std::memory_order_acquire)) return;
  several_.store(true);
  base::heavy_fence();
  while (changing_.load(std::memory_order_acquire)) ::sched_yield();
  settled_.store(true, std::memory_order_release);
}

std::optional<QuickLocks::Held> QuickLocks::take_over() noexcept {
  tell_threads_apart();
  std::uint64_t found = word_.load(std::memory_order_relaxed);
  Word word;
  Word mine;
  do {
    word = Word::unpack(found);
    if (word.state == State::turn) return {};
    mine = free_after(word);
    mine.state = State::turn;
  } while (!word_.compare_exchange_weak(found, mine.packed()));
  if (word.state == State::free) return {};
  return Held{static_cast<int>(word.part) - 1, word.state == State::exclusive, word.epoch};
}

void QuickLocks::leave() noexcept {
  Word word = Word::unpack(word_.load(std::memory_order_relaxed));
  if (word.state != State::turn) return;
  word.state = State::free;
  word_.store(word.packed(), std::memory_order_release);
}

}  // namespace oriel::window
