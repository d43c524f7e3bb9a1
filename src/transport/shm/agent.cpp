#include "transport/shm/agent.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/reduction.hpp"
#include "base/signals_blocked.hpp"

namespace oriel::shm {
namespace {

constexpr std::chrono::seconds kLongestSleep{60};

bool is_ready(const AgentSlot& slot) {
  return slot.look() == AgentSlot::ready;
}

bool contains(std::span<std::byte> memory, std::uint64_t address, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  return address >= begin && memory.size() >= bytes && address - begin <= memory.size() - bytes;
}

std::byte* bytes_of(std::uint64_t& word) {
  return reinterpret_cast<std::byte*>(&word);
}

/// What the address of a request must be a multiple of.
std::uint64_t alignment(const AgentSlot& slot) {
  switch (slot.operation) {
    case AgentOperation::fetch_add:
    case AgentOperation::compare_and_swap:
      return slot.bytes;
    case AgentOperation::accumulate:
    case AgentOperation::get_accumulate:
      return slot.type.bytes;
    case AgentOperation::write:
    case AgentOperation::read:
      break;
  }
  return 1;
}

void carry_out(AgentSlot& slot, std::byte* staging) {
  auto* const memory = reinterpret_cast<std::byte*>(slot.address);
  switch (slot.operation) {
    case AgentOperation::fetch_add:
      slot.result =
          std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory)).fetch_add(slot.operand);
      return;
    case AgentOperation::compare_and_swap:
      base::compare_and_swap_shared(slot.bytes, memory, bytes_of(slot.compare),
                                    bytes_of(slot.operand), bytes_of(slot.result));
      return;
    case AgentOperation::accumulate:
    case AgentOperation::get_accumulate: {
      const bool gets = slot.operation == AgentOperation::get_accumulate;
      base::reduce_shared(slot.type, slot.op, memory, staging, gets ? staging : nullptr,
                          slot.bytes / slot.type.bytes);
      return;
    }
    case AgentOperation::write:
      std::memcpy(memory, staging, slot.bytes);
      return;
    case AgentOperation::read:
      std::memcpy(staging, memory, slot.bytes);
      return;
  }
}

}  // namespace

Agent::Agent(ControlBlock& block, std::function<void(int)> ring_requester)
    : block_(block), ring_requester_(std::move(ring_requester)) {
  const base::SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Agent::~Agent() {
  stop_.store(true, std::memory_order_release);
  block_.agent_doorbell.ring();
  thread_.join();
}

void Agent::allow(std::span<std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  allowed_.push_back(memory);
}

void Agent::forbid(std::span<std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(allowed_, [&](std::span<std::byte> candidate) {
    return candidate.data() == memory.data() && candidate.size() == memory.size();
  });
  if (found != allowed_.end()) allowed_.erase(found);
}

void Agent::run() {
  while (!stop_.load(std::memory_order_acquire)) {
    if (serve_ready_slots()) continue;
    block_.agent_doorbell.sleep([this] { return stopping_or_asked(); }, kLongestSleep);
  }
}

bool Agent::stopping_or_asked() const noexcept {
  return stop_.load(std::memory_order_acquire) || std::ranges::any_of(block_.slots, is_ready);
}

bool Agent::serve_ready_slots() {
  bool any = false;
  for (std::size_t index = 0; index < kAgentSlots; ++index) {
    while (is_ready(block_.slots[index])) {
      serve(first_of_requester(index));
      any = true;
    }
  }
  return any;
}

/// The earliest request of whoever has posted the one in slot `ready`. Those before it were posted
/// earlier, so that who sees that one ready sees them too.
std::size_t Agent::first_of_requester(std::size_t ready) const noexcept {
  std::size_t first = ready;
  for (std::size_t index = 0; index < kAgentSlots; ++index) {
    const AgentSlot& slot = block_.slots[index];
    if (!is_ready(slot) || slot.requester != block_.slots[ready].requester) continue;
    // Less than half of the numbers are in use: the sign tells which came first.
    const std::uint32_t ahead = slot.sequence - block_.slots[first].sequence;
    if (static_cast<std::int32_t>(ahead) < 0) first = index;
  }
  return first;
}

bool Agent::is_legal(const AgentSlot& slot) const {
  return slot.bytes <= kStagingBytes && slot.address % alignment(slot) == 0 &&
         std::ranges::any_of(
             allowed_, [&](auto memory) { return contains(memory, slot.address, slot.bytes); });
}

void Agent::serve(std::size_t index) {
  AgentSlot& slot = block_.slots[index];
  const int requester = slot.requester;
  const std::scoped_lock lock(mutex_);
  const bool legal = is_legal(slot);
  if (legal) carry_out(slot, block_.staging[index].data());
  slot.pass_on(legal ? AgentSlot::done : AgentSlot::refused);
  ring_requester_(requester);
}

}  // namespace oriel::shm
