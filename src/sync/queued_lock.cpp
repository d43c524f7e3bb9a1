#include "sync/queued_lock.hpp"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::sync {
namespace {

Place state_of(const Place& lock) {
  return lock.plus(offsetof(LockWords, state));
}

Place tail_of(const Place& lock) {
  return lock.plus(offsetof(LockWords, tail));
}

}  // namespace

std::string lock_text(int owner, LockState state) {
  const auto who = [](std::uint64_t count) {
    return count == 1 ? std::string("1 rank holds") : fmt::format("{} ranks hold", count);
  };
  std::string text = fmt::format("the lock at team rank {}", owner);
  if (state.a() == 1 && state.b() == 1) return text + ", which 1 rank holds exclusively";
  if (state.a() != 0) text += fmt::format(", which {} shared", who(state.a()));
  if (state.b() != 0) text += fmt::format(", of which {} parts", who(state.b()));
  return text;
}

/// The right of one thread of this process to the node.
class QueuedLock::Turn {
 public:
  Turn(QueuedLock& lock, std::string_view operation) : lock_(lock) { lock_.wait_turn(operation); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { lock_.in_queue_.store(false, std::memory_order_release); }

 private:
  QueuedLock& lock_;
};

QueuedLock::QueuedLock(ControlWords& mine, QueueNode ControlWords::*node, Partners partners,
                       transport::Progress& progress, const Vigil& vigil)
    : node_(mine.*node),
      node_offset_(static_cast<std::size_t>(reinterpret_cast<std::byte*>(&node_) -
                                            reinterpret_cast<std::byte*>(&mine))),
      me_(static_cast<std::uint64_t>(vigil.rank()) + 1),
      partners_(std::move(partners)),
      progress_(progress),
      vigil_(vigil),
      words_(progress) {
  const std::size_t ranks = vigil.members().size();
  if (ranks > kMostRanks) {
    base::throw_error(ErrorCode::unsupported,
                      {.operation = "locks of a window",
                       .problem = fmt::format("a team of {} ranks, above {}", ranks, kMostRanks),
                       .hint = "make the window over a smaller team"});
  }
}

void QueuedLock::lock(std::string_view operation, const Place& at, LockMode mode) {
  if (take_if_free(at, mode)) return;
  const Turn turn(*this, operation);
  queue_and_take(operation, at, mode);
}

void QueuedLock::lock_past_queue(std::string_view operation, const Place& at, LockMode mode) {
  constexpr unsigned kRoundsPerLook = 64;
  const std::uint64_t unit = LockState::unit(mode);
  LockState found;
  Vigil::Watch watch =
      vigil_.watch(operation, at.endpoint).saying([&] { return lock_text(owner_of(at), found); });
  while (!(found = {words_.fetch_add(state_of(at), unit)}).admits(mode)) {
    unlock(at, mode);
    for (unsigned round = 1; !found.admits(mode); ++round) {
      progress_.yield();
      if (round % kRoundsPerLook == 0) watch();
      found = {words_.fetch_add(state_of(at), 0)};
    }
  }
}

void QueuedLock::unlock(const Place& at, LockMode mode) {
  const std::uint64_t unit = LockState::unit(mode);
  const LockState left{words_.fetch_add(state_of(at), std::uint64_t{0} - unit) - unit};
  if (left.may_admit_after(mode)) hint(left.head());
}

void QueuedLock::hint(std::uint64_t head) {
  if (head != 0) words_.add(node_of(head, offsetof(QueueNode, look)), 1);
}

bool QueuedLock::take_if_free(const Place& at, LockMode mode) {
  const std::uint64_t unit = LockState::unit(mode);
  if (mode == LockMode::exclusive) return words_.compare_and_swap(state_of(at), 0, unit) == 0;
  const LockState found{words_.fetch_add(state_of(at), unit)};
  if (found.head() == 0 && found.admits(mode)) return true;
  unlock(at, mode);
  return false;
}

void QueuedLock::wait_turn(std::string_view operation) {
  bool mine = false;
  progress_.wait(
      [&]() noexcept {
        return mine || (mine = !in_queue_.exchange(true, std::memory_order_acquire));
      },
      vigil_.watch(operation));
}

void QueuedLock::queue_and_take(std::string_view operation, const Place& at, LockMode mode) {
  const LockState seen = become_head(operation, at);
  std::uint64_t successor = take_as_head(operation, at, mode, seen);
  if (successor == 0) successor = name_successor(operation, at);
  if (successor != 0) words_.add(node_of(successor, offsetof(QueueNode, go)), 1);
}

/// Waits until this rank is the head. Returns the state, as far as it is known.
LockState QueuedLock::become_head(std::string_view operation, const Place& at) {
  // Before the swap: from then on, others may add.
  next_before_ = load(node_.next);
  const std::uint64_t go_before = load(node_.go);
  const std::uint64_t predecessor = swap_tail(tail_of(at));
  const std::uint64_t named = me_ * LockState::kUnitHead;
  if (predecessor == 0) return {words_.fetch_add(state_of(at), named) + named};
  const Place before_me = node_of(predecessor, offsetof(QueueNode, next));
  words_.add(before_me, me_);
  progress_.wait([&]() noexcept { return load(node_.go) != go_before; },
                 vigil_.watch(operation, before_me.endpoint).saying([&] {
                   return fmt::format("the lock at team rank {}, behind team rank {} in its queue",
                                      owner_of(at), predecessor - 1);
                 }));
  return {named};
}

std::uint64_t QueuedLock::swap_tail(const Place& tail) {
  std::uint64_t last = 0;
  for (;;) {
    const std::uint64_t found = words_.compare_and_swap(tail, last, me_);
    if (found == last) return last;
    last = found;
  }
}

/// Takes the lock, and leaves the name of the next head in place of this rank's: the successor's,
/// which it returns, if it is known, else none.
/// @param guess  at the state
std::uint64_t QueuedLock::take_as_head(std::string_view operation, const Place& at, LockMode mode,
                                       LockState guess) {
  const LockState nobody{me_ * LockState::kUnitHead};
  LockState seen = guess.admits(mode) ? guess : nobody;
  for (;; seen = nobody) {
    const std::uint64_t look_before = load(node_.look);
    do {
      const std::uint64_t successor = load(node_.next) - next_before_;
      const std::uint64_t taken =
          seen.word + LockState::unit(mode) + (successor - me_) * LockState::kUnitHead;
      const LockState found{words_.compare_and_swap(state_of(at), seen.word, taken)};
      if (found.word == seen.word) return successor;
      seen = found;
    } while (seen.admits(mode));
    progress_.wait([&]() noexcept { return load(node_.look) != look_before; },
                   vigil_.watch(operation).saying([&] { return lock_text(owner_of(at), seen); }));
  }
}

/// For a holder that has found nobody behind it: leaves the queue, unless somebody has come
/// meanwhile. He is named, and returned.
std::uint64_t QueuedLock::name_successor(std::string_view operation, const Place& at) {
  if (words_.compare_and_swap(tail_of(at), me_, 0) == me_) return 0;
  progress_.wait([this]() noexcept { return load(node_.next) != next_before_; },
                 vigil_.watch(operation));
  const std::uint64_t successor = load(node_.next) - next_before_;
  words_.fetch_add(state_of(at), successor * LockState::kUnitHead);
  return successor;
}

/// For messages: locks know no ranks, but lie among their owner's words.
int QueuedLock::owner_of(const Place& at) const {
  const auto ranks = static_cast<int>(vigil_.members().size());
  for (int rank = 0; rank < ranks; ++rank) {
    const Partner partner = partners_(rank);
    if (partner.endpoint != at.endpoint) continue;
    if (at.address.address - partner.words.address < sizeof(ControlWords)) return rank;
  }
  return -1;
}

Place QueuedLock::node_of(std::uint64_t rank_plus_one, std::size_t word) const {
  return partners_(static_cast<int>(rank_plus_one - 1)).at(node_offset_ + word);
}

}  // namespace oriel::sync
