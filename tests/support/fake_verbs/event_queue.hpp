#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace oriel::fake_verbs {

/// An eventfd that counts queued events, so that poll(), epoll and O_NONBLOCK see what the real
/// event files would show.
class EventFd {
 public:
  EventFd();
  ~EventFd();
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  void add() const;
  void take() const;
  /// Waits for an event without taking it. False, with errno set, when it is interrupted or when
  /// the descriptor is O_NONBLOCK.
  [[nodiscard]] bool wait() const;

 private:
  int fd_;
};

/// Used under the fabric's lock; the count of the descriptor equals the length of the queue.
template <class Event>
class EventQueue {
 public:
  [[nodiscard]] int fd() const { return fd_.fd(); }

  void push(Event event) {
    events_.push_back(std::move(event));
    fd_.add();
  }

  /// The next event, waiting with `lock` released; nothing, with errno set, as for EventFd::wait().
  [[nodiscard]] std::optional<Event> pop(std::unique_lock<std::mutex>& lock) {
    while (events_.empty()) {
      lock.unlock();
      const bool waited = fd_.wait();
      lock.lock();
      if (!waited && events_.empty()) return std::nullopt;
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    fd_.take();
    return event;
  }

  template <class Predicate>
  void remove_if(Predicate unwanted) {
    const auto removed = std::erase_if(events_, unwanted);
    for (auto i = removed; i > 0; --i) fd_.take();
  }

  /// Takes the events that fit out of the queue, in order.
  template <class Predicate>
  [[nodiscard]] std::deque<Event> extract_if(Predicate wanted) {
    std::deque<Event> kept, taken;
    for (auto& event : events_) (wanted(event) ? taken : kept).push_back(std::move(event));
    events_ = std::move(kept);
    for (auto i = taken.size(); i > 0; --i) fd_.take();
    return taken;
  }

 private:
  EventFd fd_;
  std::deque<Event> events_;
};

}  // namespace oriel::fake_verbs
