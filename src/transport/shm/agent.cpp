#include "transport/shm/agent.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/signals_blocked.hpp"

namespace oriel::shm {
namespace {

constexpr std::chrono::seconds kLongestSleep{60};

bool contains(std::span<std::byte> memory, std::uint64_t address, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  return address >= begin && memory.size() >= bytes && address - begin <= memory.size() - bytes;
}

void carry_out(AgentSlot& slot, std::byte* staging) {
  auto* const memory = reinterpret_cast<std::byte*>(slot.address);
  const auto word = [&] {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(memory));
  };
  switch (slot.operation) {
    case AgentOperation::fetch_add:
      slot.result = word().fetch_add(slot.operand);
      return;
    case AgentOperation::compare_and_swap:
      slot.result = slot.compare;
      word().compare_exchange_strong(slot.result, slot.operand);
      return;
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
  return stop_.load(std::memory_order_acquire) ||
         std::ranges::any_of(block_.slots, [](const AgentSlot& slot) {
           return slot.state.load(std::memory_order_acquire) == AgentSlot::ready;
         });
}

bool Agent::serve_ready_slots() {
  bool any = false;
  for (std::size_t index = 0; index < kAgentSlots; ++index) {
    if (block_.slots[index].state.load(std::memory_order_acquire) != AgentSlot::ready) continue;
    serve(index);
    any = true;
  }
  return any;
}

bool Agent::is_legal(const AgentSlot& slot) const {
  const bool copies =
      slot.operation == AgentOperation::write || slot.operation == AgentOperation::read;
  const std::uint64_t bytes = copies ? slot.bytes : sizeof(std::uint64_t);
  const bool fits = copies ? bytes <= kStagingBytes : slot.address % sizeof(std::uint64_t) == 0;
  return fits && std::ranges::any_of(
                     allowed_, [&](auto memory) { return contains(memory, slot.address, bytes); });
}

void Agent::serve(std::size_t index) {
  AgentSlot& slot = block_.slots[index];
  const int requester = slot.requester;
  const std::scoped_lock lock(mutex_);
  const bool legal = is_legal(slot);
  if (legal) carry_out(slot, block_.staging[index].data());
  slot.state.store(legal ? AgentSlot::done : AgentSlot::refused, std::memory_order_release);
  ring_requester_(requester);
}

}  // namespace oriel::shm
