#include "sync/remote_words.hpp"

#include "sync/flush.hpp"

namespace oriel::sync {
namespace {

void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

RemoteWords::~RemoteWords() {
  progress_.wait([this]() noexcept { return sent_.remote_pending == 0; });
}

std::uint64_t RemoteWords::fetch_add(const Place& word, std::uint64_t operand) {
  count(atomics_);
  transport::Completion done;
  std::uint64_t old = 0;
  post(progress_, [&] { return word.endpoint->fetch_add(operand, &old, word.address, done); });
  flush_local(progress_, *word.endpoint, done);
  return old;
}

std::uint64_t RemoteWords::compare_and_swap(const Place& word, std::uint64_t compare,
                                            std::uint64_t swap) {
  count(atomics_);
  transport::Completion done;
  std::uint64_t old = 0;
  post(progress_,
       [&] { return word.endpoint->compare_and_swap(compare, swap, &old, word.address, done); });
  flush_local(progress_, *word.endpoint, done);
  return old;
}

void RemoteWords::add(const Place& word, std::uint64_t operand) {
  count(messages_);
  post(progress_, [&] { return word.endpoint->add(operand, word.address, sent_); });
  see_off(word);
}

void RemoteWords::signal(const Place& word, std::uint64_t value) {
  count(messages_);
  post(progress_, [&] { return word.endpoint->signal(value, word.address, sent_); });
  see_off(word);
}

void RemoteWords::settle() {
  wait_remote(progress_, sent_);
}

/// A message arrives without this rank doing anything more about it.
void RemoteWords::see_off(const Place& word) {
  post(progress_, [&] { return word.endpoint->seal(sent_); });
  wait_local(progress_, sent_);
}

}  // namespace oriel::sync
