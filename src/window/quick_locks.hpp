#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/asymmetric_fence.hpp"
#include "base/this_thread.hpp"
#include "sync/control_words.hpp"
#include "sync/queued_lock.hpp"
#include "transport/progress.hpp"

namespace oriel::window {

/// The short way to take and give back a lock where all ranks have the lock words mapped: for a
/// rank that holds nothing else, while nobody is in the way. It needs no turn, but to tell others
/// that wait. All other cases are those of LockEpochs, which works on the same lock words, in its
/// turn.
///
/// One word of this rank says who is responsible: nobody, as nothing is held; the short way, and
/// for what; or LockEpochs. Of two threads that change it, one gets its way:
///   free → held        by who has taken the lock; who has, but finds the word changed, gives it
///                      back, and has not had it
///   held → free        by who then gives the lock back
///   free, held → turn  by LockEpochs, in its turn, which takes over what is held
///   turn → free        by LockEpochs, in its turn, when it holds nothing and waits for nothing
/// As long as one thread alone has come here, its changes are plain stores, each between two of
/// `changing_`, which nobody else touches. Any other thread says so in `several_`, and waits until
/// no such store is under way: from then on all change the word by compare-and-swaps, which find
/// what was stored last. If the first thread has not seen `several_`, the other sees it changing:
/// that is what the asymmetric fences between the two are for.
///
/// The number of the epoch stays in the word, and grows with each held → free, so that a guard that
/// comes too late finds another.
///
/// Threads: any. Cost: 1 CPU atomic to take a shared lock or that of all, 2 for an exclusive one;
/// as many to give it back; one more where several threads of a rank lock.
class QuickLocks {
 public:
  static constexpr int kAllParts = -1;  ///< as a target
  struct Held {
    int target = kAllParts;
    bool exclusive = false;
    std::uint64_t epoch = 0;
  };
  /// Epochs of the short way are below, and above 0.
  static constexpr std::uint64_t kEpochs = std::uint64_t{1} << 40;

  /// @param words  of all ranks, by team rank, mapped; empty: there is no short way
  QuickLocks(std::span<sync::ControlWords* const> words, sync::QueuedLock& locks,
             transport::Progress& progress) noexcept
      : words_(words), locks_(locks), progress_(progress) {}

  /// The epoch, or 0: it is not to be had this way.
  [[nodiscard]] std::uint64_t lock(int target, bool exclusive);
  /// Whether it was held this way, and is given back. What was done under it is complete.
  /// @param epoch  0: whichever it is
  [[nodiscard]] bool unlock(int target, std::uint64_t epoch);

  /// LockEpochs is responsible from here on; what it takes over, if anything. In its turn, as the
  /// rest.
  [[nodiscard]] std::optional<Held> take_over() noexcept;
  /// No more, if it was.
  void leave() noexcept;

 private:
  enum class State : std::uint64_t { free, shared, exclusive, turn };
  /// What the word says.
  struct Word {
    State state = State::free;
    std::uint64_t part = 0;  ///< target + 1; 0: all
    std::uint64_t epoch = 0;

    [[nodiscard]] static Word unpack(std::uint64_t word) noexcept {
      return {static_cast<State>(word & 3U), word >> 2U & kPartMask, word >> (2 + kPartBits)};
    }
    [[nodiscard]] constexpr std::uint64_t packed() const noexcept {
      return static_cast<std::uint64_t>(state) | part << 2U | epoch << (2 + kPartBits);
    }
  };
  static constexpr unsigned kPartBits = 22;
  static constexpr std::uint64_t kPartMask = (std::uint64_t{1} << kPartBits) - 1;
  static_assert(sync::LockState::kMaxHolders < kPartMask);

  /// Changes the word from `found`, which becomes what it is if it is another by now.
  [[nodiscard]] bool change(std::uint64_t& found, const Word& wanted);
  /// To be called before the word is read that is to be changed.
  void tell_threads_apart() noexcept {
    if (first_thread_.load(std::memory_order_relaxed) != base::this_thread()) [[unlikely]]
      meet_thread();
  }
  void meet_thread() noexcept;
  [[nodiscard]] bool take(std::uint64_t part, bool exclusive);
  void give_back(std::uint64_t part, bool exclusive);
  void release(std::uint64_t& state, sync::LockMode mode);
  void hint(std::uint64_t head);
  [[nodiscard]] std::uint64_t& part_lock(std::uint64_t part) const noexcept {
    return words_[part - 1]->part_lock.state;
  }
  [[nodiscard]] std::uint64_t& window_lock() const noexcept {
    return words_.front()->window_lock.state;
  }
  [[nodiscard]] static std::uint64_t part_of(int target) noexcept {
    return static_cast<std::uint64_t>(target + 1);
  }
  [[nodiscard]] static Word free_after(const Word& word) noexcept {
    return {State::free, 0, word.epoch + 1 < kEpochs ? word.epoch + 1 : 1};
  }

  std::span<sync::ControlWords* const> words_;
  sync::QueuedLock& locks_;
  transport::Progress& progress_;
  std::atomic<std::uint64_t> word_{Word{State::free, 0, 1}.packed()};
  std::atomic<const void*> first_thread_{nullptr};
  std::atomic<bool> changing_{false};  // the first thread stores to word_, if not several_
  std::atomic<bool> several_{false};   // threads have come: stays
  std::atomic<bool> settled_{false};   // and the first one does no plain stores any more
  bool has_membarrier_ = base::has_membarrier();
};

inline bool QuickLocks::change(std::uint64_t& found, const Word& wanted) {
  if (!several_.load(std::memory_order_relaxed)) {  // else this may not be the first thread
    changing_.store(true, std::memory_order_relaxed);
    base::light_fence(has_membarrier_);
    const bool alone = !several_.load(std::memory_order_relaxed);
    if (alone) word_.store(wanted.packed(), std::memory_order_release);
    changing_.store(false, std::memory_order_release);
    if (alone) return true;
  }
  return word_.compare_exchange_strong(found, wanted.packed());
}

inline std::uint64_t QuickLocks::lock(int target, bool exclusive) {
  if (words_.empty()) return 0;
  tell_threads_apart();
  std::uint64_t found = word_.load(std::memory_order_relaxed);
  Word word = Word::unpack(found);
  if (word.state != State::free) return 0;
  word.part = part_of(target);
  if (!take(word.part, exclusive)) return 0;
  word.state = exclusive ? State::exclusive : State::shared;
  if (change(found, word)) return word.epoch;
  give_back(word.part, exclusive);
  return 0;
}

inline bool QuickLocks::unlock(int target, std::uint64_t epoch) {
  tell_threads_apart();
  std::uint64_t found = word_.load(std::memory_order_relaxed);
  const Word word = Word::unpack(found);
  if (word.state != State::shared && word.state != State::exclusive) return false;
  if (word.part != part_of(target) || (epoch != 0 && word.epoch != epoch)) return false;
  if (!change(found, free_after(word))) return false;
  give_back(word.part, word.state == State::exclusive);
  return true;
}

/// See LockEpochs: before an exclusive part a place in the crowd.
inline bool QuickLocks::take(std::uint64_t part, bool exclusive) {
  if (part == 0) return sync::QueuedLock::try_lock(window_lock(), sync::LockMode::shared);
  if (!exclusive) return sync::QueuedLock::try_lock(part_lock(part), sync::LockMode::shared);
  if (!sync::QueuedLock::try_lock(window_lock(), sync::LockMode::crowd)) return false;
  if (sync::QueuedLock::try_lock(part_lock(part), sync::LockMode::exclusive)) return true;
  release(window_lock(), sync::LockMode::crowd);
  return false;
}

inline void QuickLocks::give_back(std::uint64_t part, bool exclusive) {
  if (part == 0) return release(window_lock(), sync::LockMode::shared);
  release(part_lock(part), exclusive ? sync::LockMode::exclusive : sync::LockMode::shared);
  if (exclusive) release(window_lock(), sync::LockMode::crowd);
}

inline void QuickLocks::release(std::uint64_t& state, sync::LockMode mode) {
  const std::uint64_t head = sync::QueuedLock::release(state, mode);
  if (head != 0) [[unlikely]]
    hint(head);
}

}  // namespace oriel::window
