#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/this_thread.hpp"
#include "transport/progress.hpp"

namespace oriel::transport {

/// A lane that some threads have to themselves, and whose turn it is there. Made when something
/// first goes by it.
class ThreadLane final : public Lane {
 public:
  using Make = std::function<std::unique_ptr<Lane>()>;

  ThreadLane(Make make, bool oversubscribed)
      : make_(std::move(make)), progress_({this}, nullptr, oversubscribed) {}

  /// In a turn of `turns()`, as the rest. Errors: those of `make`.
  [[nodiscard]] Endpoint& endpoint(int world_rank) override {
    if (!lane_) lane_ = make_();
    return lane_->endpoint(world_rank);
  }
  void for_each_endpoint(const std::function<void(Endpoint&)>& visit) override {
    if (lane_) lane_->for_each_endpoint(visit);
  }
  std::size_t progress() override { return lane_ ? lane_->progress() : 0; }
  [[nodiscard]] std::size_t outstanding() const noexcept override {
    return lane_ ? lane_->outstanding() : 0;
  }

  [[nodiscard]] Progress& turns() noexcept { return progress_; }

 private:
  Make make_;
  std::unique_ptr<Lane> lane_;
  Progress progress_;
};

/// Which thread takes which lane. The thread that started the runtime goes the common way, which a
/// program with one thread never leaves; others have one of these lanes, each its own as long as
/// there are enough.
///
/// Lanes are for puts and gets, which need no order among themselves. What has an order, or words
/// of its own in a protocol, is common: atomics, locks, epochs, notifications, requests. Threads:
/// any.
class Lanes {
 public:
  Lanes(std::size_t count, const ThreadLane::Make& make, bool oversubscribed) {
    for (std::size_t i = 0; i < count; ++i) {
      lanes_.push_back(std::make_unique<ThreadLane>(make, oversubscribed));
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
  [[nodiscard]] ThreadLane& operator[](std::size_t number) const { return *lanes_[number]; }

  /// Whether the calling thread goes the common way.
  [[nodiscard]] bool is_home() const noexcept {
    return base::this_thread() == home_ || lanes_.empty();
  }
  /// A thread that does, by base::this_thread().
  [[nodiscard]] const void* home() const noexcept { return home_; }
  /// The number of its lane. Requires that it has one.
  [[nodiscard]] std::size_t mine() const noexcept { return this_thread() % size(); }

 private:
  /// Threads in the order of their first question.
  [[nodiscard]] static std::size_t this_thread() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
  }

  const void* home_ = base::this_thread();
  std::vector<std::unique_ptr<ThreadLane>> lanes_;
};

}  // namespace oriel::transport
