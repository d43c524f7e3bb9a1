#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <oriel/operations.hpp>

#include "base/doorbell.hpp"
#include "base/thread_sanitizer.hpp"

namespace oriel::shm {

/// Number of requests that peers can have waiting at one process's agent; a further one finds "no
/// credit" and is tried again.
inline constexpr std::uint32_t kAgentSlots = 64;
/// Bytes that one request of the agent can carry.
inline constexpr std::uint32_t kStagingBytes = 16 * 1024;

enum class AgentOperation : std::uint32_t {
  fetch_add,
  compare_and_swap,
  accumulate,
  get_accumulate,  ///< leaves the old values in the staging bytes
  write,
  read,
};

/// One operation asked of a process whose memory cannot be reached otherwise.
///
/// Who owns the slot, and the staging bytes that go with it: free → (a requester, by
/// compare-exchange) claimed → ready → (the agent) done or refused → (the requester) free. Only the
/// owner touches the other members; `state` hands them over, by pass_on() and look(). Requests of
/// one requester are carried out in the order of their `sequence`, whatever slots they got.
struct alignas(64) AgentSlot {
  enum State : std::uint32_t { free, claimed, ready, done, refused };

  std::atomic<std::uint32_t> state{free};
  AgentOperation operation{};
  std::int32_t requester = 0;  ///< world rank to ring when done
  std::uint32_t bytes = 0;     ///< of memory that is touched: at most kStagingBytes
  std::uint64_t address = 0;   ///< in the agent's process
  std::uint64_t operand = 0;   ///< what is added or swapped in; of an element its first bytes
  std::uint64_t compare = 0;
  std::uint64_t result = 0;    ///< of fetch_add and compare_and_swap: the old value
  std::uint32_t sequence = 0;  ///< counts the requester's requests of this agent; wraps around
  ElementType type{};          ///< of an accumulate
  OpCode op{};

  /// By the owner, who is it no more.
  void pass_on(State next) noexcept {
    base::hand_over_by_alias();
    state.store(next, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t look() const noexcept {
    const std::uint32_t seen = state.load(std::memory_order_acquire);
    base::take_over_by_alias();
    return seen;
  }
};
static_assert(sizeof(AgentSlot) == 64);

/// What every process shows to the others of its machine, in a shared segment of its own.
struct ControlBlock {
  base::Doorbell doorbell;        ///< rung when memory that this process may wait for has changed
  base::Doorbell agent_doorbell;  ///< rung when a slot is ready
  std::array<AgentSlot, kAgentSlots> slots;
  std::array<std::array<std::byte, kStagingBytes>, kAgentSlots>
      staging;  ///< pages cost nothing until used
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace oriel::shm
