#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/doorbell.hpp"
#include "transport/transport.hpp"

namespace oriel::transport {

/// All transports of this process, and the one policy of waiting.
///
/// Any wait progresses everything: polling one window never starves another. A wait spins only
/// while every rank has a core of its own, then yields, then sleeps until a peer rings or a nap is
/// over, so that eight ranks on two cores do not collapse.
class Progress {
 public:
  /// @param doorbell  rung by peers of this machine; null without shared memory
  Progress(std::vector<Transport*> transports, base::Doorbell* doorbell, bool oversubscribed)
      : transports_(std::move(transports)),
        doorbell_(doorbell),
        spins_(oversubscribed ? 0 : kSpins) {}

  /// Finishes what can be finished now, in all transports; never waits.
  std::size_t poll() {
    std::size_t finished = 0;
    for (Transport* transport : transports_) {
      if (transport->outstanding() != 0) finished += transport->progress();
    }
    return finished;
  }

  /// Returns once done() holds. Between turns of waiting that found nothing, `idle()` runs before
  /// each sleep; it may throw to give up.
  template <class Done, class Idle>
  void wait(Done&& done, Idle&& idle) {
    for (unsigned turn = 0; !done(); ++turn) {
      if (poll() != 0) {
        turn = 0;
      } else if (turn < spins_) {
        relax();
      } else if (turn < spins_ + kYields) {
        ::sched_yield();
      } else {
        idle();
        nap(done);
      }
    }
  }
  template <class Done>
  void wait(Done&& done) {
    wait(std::forward<Done>(done), [] {});
  }

 private:
  static constexpr unsigned kSpins = 2000;  // some tens of microseconds
  static constexpr unsigned kYields = 50;
  // Nobody rings for what a NIC wrote or completed: then naps are short. Else they bound only how
  // late a death is noticed.
  static constexpr std::chrono::microseconds kNapBesideNic{50};
  static constexpr std::chrono::microseconds kNapBesidePeers{20'000};

  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }

  template <class Done>
  void nap(Done& done) {
    if (doorbell_ != nullptr) {
      doorbell_->sleep(done, rings_for_all() ? kNapBesidePeers : kNapBesideNic);
    } else {
      own_doorbell_.sleep(done, kNapBesideNic);
    }
  }
  [[nodiscard]] bool rings_for_all() const noexcept {
    return transports_.size() == 1;
  }

  std::vector<Transport*> transports_;
  base::Doorbell* doorbell_;
  base::Doorbell own_doorbell_;  // never rung: a timer
  unsigned spins_;
};

}  // namespace oriel::transport
