#pragma once
/// A job whose ranks are threads of this process: the whole library above the transports, without
/// MPI and without mpirun.

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <oriel/runtime.hpp>

#include "bootstrap/bootstrap.hpp"
#include "runtime/runtime_state.hpp"

namespace oriel::test {

/// What the threads of one group share.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : parts_(static_cast<std::size_t>(size)), size_(size) {}

  /// The one collective: everybody's bytes to everybody, then everybody leaves together.
  std::vector<std::vector<std::byte>> exchange(int rank, std::span<const std::byte> mine) {
    std::unique_lock lock(mutex_);
    parts_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    meet(lock);
    auto all = parts_;
    meet(lock);
    return all;
  }
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  void meet(std::unique_lock<std::mutex>& lock) {
    const unsigned generation = generation_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return generation_ != generation; });
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> parts_;
  int size_;
  int arrived_ = 0;
  unsigned generation_ = 0;
};

class ThreadBootstrap final : public bootstrap::Bootstrap {
 public:
  ThreadBootstrap(std::shared_ptr<ThreadGroup> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return group_->size(); }
  [[nodiscard]] std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all;
    for (const auto& part : group_->exchange(rank_, mine))
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  void abandon() noexcept override {}

 private:
  std::shared_ptr<ThreadGroup> group_;
  int rank_;
};

/// Runs `body(job)` on `ranks` threads, each with a Runtime of its own; rethrows the first
/// exception of the lowest rank. `environment` are the ORIEL_* lines of every rank.
inline void run_ranks(int ranks, const std::vector<std::string>& environment,
                      const std::function<void(Runtime&)>& body) {
  const auto group = std::make_shared<ThreadGroup>(ranks);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Runtime job(std::make_unique<runtime::RuntimeState>(
            std::make_unique<ThreadBootstrap>(group, rank), environment));
        body(job);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace oriel::test
