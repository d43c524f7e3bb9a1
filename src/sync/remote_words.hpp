#pragma once

#include <atomic>
#include <cstdint>

#include "sync/partner.hpp"
#include "transport/completion.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// How protocols change words of other ranks: atomics, whose old value is waited for, and messages,
/// which are on their way on return.
///
/// Errors of all: those of the endpoint; after the first failed message, always.
/// Threads: as the transports. Cost: an atomic is a round trip; a message is one way.
class RemoteWords {
 public:
  explicit RemoteWords(transport::Progress& progress) : progress_(progress) {}
  RemoteWords(const RemoteWords&) = delete;
  RemoteWords& operator=(const RemoteWords&) = delete;
  /// Waits until the messages have arrived or failed.
  ~RemoteWords();

  /// The old value.
  std::uint64_t fetch_add(const Place& word, std::uint64_t operand);
  /// The old value; `swap` is stored if that is `compare`.
  std::uint64_t compare_and_swap(const Place& word, std::uint64_t compare, std::uint64_t swap);

  /// Endpoint::add(), for words with several writers.
  void add(const Place& word, std::uint64_t operand);
  /// Endpoint::signal(), for words with one writer.
  void signal(const Place& word, std::uint64_t value);

  /// Waits until the messages have arrived: their words may go.
  void settle();

  [[nodiscard]] std::uint64_t atomics() const noexcept { return atomics_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  void see_off(const Place& word);

  transport::Progress& progress_;
  transport::Completion sent_;
  std::atomic<std::uint64_t> atomics_{0};
  std::atomic<std::uint64_t> messages_{0};
};

}  // namespace oriel::sync
