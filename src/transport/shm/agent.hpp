#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "transport/shm/control_block.hpp"

namespace oriel::shm {

/// Carries out what peers ask for on this process's own memory, where they cannot map it: atomics
/// and accumulates always, copies where the kernel forbids process_vm_readv/writev. A thread that
/// sleeps on a futex until a request comes, so that the application need not call anything. It uses
/// CPU atomics, as this process does itself: one coherence domain.
class Agent {
 public:
  /// @param ring_requester  wakes the process of a world rank; called by the agent's thread
  Agent(ControlBlock& block, std::function<void(int)> ring_requester);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Requests outside the memory that is allowed at that time are refused. Threads: any. The same
  /// memory may be allowed several times.
  void allow(std::span<std::byte> memory);
  void forbid(std::span<std::byte> memory);

 private:
  void run();
  bool serve_ready_slots();
  [[nodiscard]] std::size_t first_of_requester(std::size_t ready) const noexcept;
  void serve(std::size_t index);
  [[nodiscard]] bool is_legal(const AgentSlot& slot) const;
  [[nodiscard]] bool stopping_or_asked() const noexcept;

  ControlBlock& block_;
  std::function<void(int)> ring_requester_;
  std::mutex mutex_;  // guards allowed_: held while an atomic is carried out, so that forbid()
                      // returns only after it
  std::vector<std::span<std::byte>> allowed_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace oriel::shm
