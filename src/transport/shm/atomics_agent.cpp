#include "transport/shm/atomics_agent.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace oriel::shm {
namespace {

constexpr std::chrono::seconds kLongestSleep{60};

bool contains(std::span<std::byte> memory, std::uint64_t address) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  return address >= begin && memory.size() >= sizeof(std::uint64_t) &&
         address - begin <= memory.size() - sizeof(std::uint64_t);
}

}  // namespace

AtomicsAgent::AtomicsAgent(ControlBlock& block, std::function<void(int)> ring_requester)
    : block_(block), ring_requester_(std::move(ring_requester)), thread_([this] { run(); }) {}

AtomicsAgent::~AtomicsAgent() {
  stop_.store(true, std::memory_order_release);
  block_.agent_doorbell.ring();
  thread_.join();
}

void AtomicsAgent::allow(std::span<std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  allowed_.push_back(memory);
}

void AtomicsAgent::forbid(std::span<std::byte> memory) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(allowed_, [&](std::span<std::byte> candidate) {
    return candidate.data() == memory.data() && candidate.size() == memory.size();
  });
  if (found != allowed_.end()) allowed_.erase(found);
}

void AtomicsAgent::run() {
  while (!stop_.load(std::memory_order_acquire)) {
    if (serve_ready_slots()) continue;
    block_.agent_doorbell.sleep([this] { return stopping_or_asked(); }, kLongestSleep);
  }
}

bool AtomicsAgent::stopping_or_asked() const noexcept {
  return stop_.load(std::memory_order_acquire) ||
         std::ranges::any_of(block_.slots, [](const AgentSlot& slot) {
           return slot.state.load(std::memory_order_acquire) == AgentSlot::ready;
         });
}

bool AtomicsAgent::serve_ready_slots() {
  bool any = false;
  for (AgentSlot& slot : block_.slots) {
    if (slot.state.load(std::memory_order_acquire) != AgentSlot::ready) continue;
    serve(slot);
    any = true;
  }
  return any;
}

void AtomicsAgent::serve(AgentSlot& slot) {
  const int requester = slot.requester;
  const std::scoped_lock lock(mutex_);
  const bool legal =
      slot.address % sizeof(std::uint64_t) == 0 &&
      std::ranges::any_of(allowed_, [&](auto memory) { return contains(memory, slot.address); });
  if (legal) {
    const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(slot.address));
    if (slot.operation == AgentOperation::fetch_add) {
      slot.result = word.fetch_add(slot.operand);
    } else {
      slot.result = slot.compare;
      word.compare_exchange_strong(slot.result, slot.operand);
    }
  }
  slot.state.store(legal ? AgentSlot::done : AgentSlot::refused, std::memory_order_release);
  ring_requester_(requester);
}

}  // namespace oriel::shm
