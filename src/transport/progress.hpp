#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/doorbell.hpp"
#include "base/quick_mutex.hpp"
#include "transport/transport.hpp"

namespace oriel::transport {

/// Lanes that make progress together, the one policy of waiting, and whose turn it is. A process
/// has one for all its transports, and one for each lane that threads have to themselves (see
/// Lanes).
///
/// Any wait progresses everything: polling one window never starves another. A wait spins only
/// while every rank has a core of its own, then yields, then sleeps until a peer rings or a nap is
/// over, so that eight ranks on two cores do not collapse.
///
/// Lanes, endpoints and completions belong to the thread whose turn it is. Whoever waits lets
/// the others have theirs meanwhile: a thread that waits for a message never holds up another that
/// is to send it.
class Progress {
 public:
  /// @param doorbell  rung by peers of this machine; null without shared memory
  Progress(std::vector<Lane*> lanes, base::Doorbell* doorbell, bool oversubscribed)
      : lanes_(std::move(lanes)), doorbell_(doorbell), spins_(oversubscribed ? 0 : kSpins) {}

  /// A thread's turn, from the public call that takes it to that call's end. Not recursive.
  class [[nodiscard]] Turn {
   public:
    explicit Turn(Progress& progress) : progress_(progress) { progress_.mutex_.lock(); }
    ~Turn() { progress_.mutex_.unlock(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Progress& progress_;
  };

  /// Finishes what can be finished now, in all lanes; never waits.
  std::size_t poll() {
    std::size_t finished = 0;
    for (Lane* lane : lanes_) {
      if (lane->outstanding() != 0) finished += lane->progress();
    }
    return finished;
  }

  /// Called again and again, out of turn, by whoever waits here for more than an instant: what has
  /// nothing to do with Oriel, but must go on meanwhile. Before the first wait, or never.
  void while_waiting(void (*beside)()) noexcept { beside_ = beside; }

  [[nodiscard]] const std::vector<Lane*>& lanes() const noexcept { return lanes_; }

  /// Returns once done() holds. Between turns of waiting that found nothing, `idle()` runs before
  /// each sleep; it may throw to give up. done() and idle() run in this thread's turn.
  template <class Done, class Idle>
  void wait(Done&& done, Idle&& idle) {
    if (!done()) wait_more(done, idle);
  }
  template <class Done>
  void wait(Done&& done) {
    wait(std::forward<Done>(done), [] {});
  }

  /// Runs `rest`, which waits for others by means of its own, while other threads may have their
  /// turn. Where nobody takes turns, as in tests of what lies below the public calls, there is
  /// nothing to give up.
  template <class Rest>
  void out_of_turn(Rest&& rest) {
    if (!mutex_.is_taken()) return rest();
    const Pause pause(*this);
    rest();
  }

  /// Lets other threads have the turn, and others the core, for a moment.
  void yield() {
    out_of_turn([this] {
      if (beside_ != nullptr) beside_();
      ::sched_yield();
    });
  }

 private:
  template <class Done, class Idle>
  [[gnu::noinline]] void wait_more(Done& done, Idle& idle) {
    unsigned round = 0;
    do {
      ++round;
      if (poll() != 0) {
        round = 0;
      } else if (round < spins_) {
        if (round % kPollsInTurn == 0) out_of_turn([] { relax(); });
      } else if (round < spins_ + kYields) {
        yield();
      } else {
        idle();
        nap(done);
      }
    } while (!done());
  }

  /// The turn is given up until the end of the scope.
  class Pause {
   public:
    explicit Pause(Progress& progress) : progress_(progress) { progress_.mutex_.unlock(); }
    ~Pause() { progress_.mutex_.lock(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Progress& progress_;
  };

  static constexpr unsigned kSpins = 2000;  // some tens of microseconds
  // A pause lets the core's other thread have it, but is dear in a virtual machine; so are turns.
  static constexpr unsigned kPollsInTurn = 8;
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
    const bool in_turn = mutex_.is_taken();
    const auto done_by_others = [&]() noexcept {
      if (!in_turn) return done();
      const std::scoped_lock lock(mutex_);
      return done();
    };
    out_of_turn([&] {
      if (beside_ != nullptr) beside_();
      if (doorbell_ != nullptr) {
        doorbell_->sleep(done_by_others, rings_for_all() ? kNapBesidePeers : kNapBesideNic);
      } else {
        own_doorbell_.sleep(done_by_others, kNapBesideNic);
      }
    });
  }
  [[nodiscard]] bool rings_for_all() const noexcept {
    return lanes_.size() <= 1 && beside_ == nullptr;
  }

  base::QuickMutex mutex_;
  std::vector<Lane*> lanes_;
  base::Doorbell* doorbell_;
  base::Doorbell own_doorbell_;  // never rung: a timer
  unsigned spins_;
  void (*beside_)() = nullptr;
};

}  // namespace oriel::transport
