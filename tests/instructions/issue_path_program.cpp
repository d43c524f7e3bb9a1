// Puts and flushes through the fake device, for callgrind to count: see count.

#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace {

constexpr int kTimes = 1000;

// What is counted: each a function of its own, which callgrind enters and leaves.
[[gnu::noinline]] void counted_put(oriel::Window<std::uint64_t>& window,
                                   std::span<const std::uint64_t> value) {
  window.put(value, oriel::Rank(1), 0);
  asm volatile("" ::: "memory");  // not the last thing it does
}
[[gnu::noinline]] void counted_empty_flush(oriel::Window<std::uint64_t>& window) {
  window.flush(oriel::Rank(1));
  asm volatile("" ::: "memory");
}

// The device has the completion when flush looks for the first time.
[[gnu::noinline]] void counted_pair_of_put(oriel::Window<std::uint64_t>& window,
                                           std::span<const std::uint64_t> value) {
  window.put(value, oriel::Rank(1), 0);
  window.flush(oriel::Rank(1));
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void counted_pair_of_get(oriel::Window<std::uint64_t>& window,
                                           std::span<std::uint64_t> value) {
  window.get(value, oriel::Rank(1), 0);
  window.flush(oriel::Rank(1));
  asm volatile("" ::: "memory");
}

// Behind each other: they share doorbells and completions.
constexpr int kTogether = 100;
[[gnu::noinline]] void counted_hundred_puts(oriel::Window<std::uint64_t>& window,
                                            std::span<const std::uint64_t> value) {
  for (int i = 0; i < kTogether; ++i) window.put(value, oriel::Rank(1), 0);
  window.flush(oriel::Rank(1));
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void counted_fetch_add(oriel::Window<std::uint64_t>& window) {
  static_cast<void>(window.fetch_add(1, oriel::Rank(1), 1));
  asm volatile("" ::: "memory");
}

}  // namespace

int main() {
  oriel::fake_verbs::reset();
  std::barrier meet(2);
  oriel::test::run_ranks(2, {"ORIEL_FABRIC=verbs", "ORIEL_VISIBILITY=ordered", "ORIEL_LOG=error"},
                         [&](oriel::Runtime& job) {
                           auto window = oriel::Window<std::uint64_t>::allocate(job.world(), 8);
                           oriel::Buffer<std::uint64_t> value(job, 1);
                           window.put(value.span(), oriel::Rank(1 - job.world().rank()),
                                      0);  // connects
                           window.fence();
                           meet.arrive_and_wait();
                           if (job.world().rank() == 0) {
                             for (int i = 0; i < kTimes; ++i) {
                               counted_put(window, value.span());
                               window.flush(oriel::Rank(1));
                             }
                             for (int i = 0; i < kTimes; ++i) counted_empty_flush(window);
                             for (int i = 0; i < kTimes; ++i)
                               counted_pair_of_put(window, value.span());
                             for (int i = 0; i < kTimes; ++i)
                               counted_pair_of_get(window, value.span());
                             for (int i = 0; i < kTimes; ++i) counted_fetch_add(window);
                             for (int i = 0; i < kTimes; ++i)
                               counted_hundred_puts(window, value.span());
                           }
                           meet.arrive_and_wait();
                           window.fence();
                         });
  std::printf("%d\n", kTimes);
  return EXIT_SUCCESS;
}
