#pragma once

#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace oriel::bootstrap {

/// Allgather of one plain record per rank.
template <class Record>
[[nodiscard]] std::vector<Record> allgather_records(Bootstrap& group, const Record& mine) {
  static_assert(std::is_trivially_copyable_v<Record>);
  const std::vector<std::byte> bytes = group.allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Record> all(bytes.size() / sizeof(Record));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Record));
  return all;
}

/// How a rank's part of a collective step went; travels as bytes. Cut text is better than none.
struct Verdict {
  bool failed = false;
  std::array<char, 511> why{};
};

namespace detail {
[[nodiscard]] Verdict current_exception_as_verdict() noexcept;
/// Errors: peer_failed, naming the first rank of `all` that failed.
void check_verdicts(std::string_view operation, std::span<const Verdict> all);
}  // namespace detail

/// Runs `step` on every rank, exchanges what it returns, and agrees on the outcome, so that one
/// failing rank strands nobody: either it returned everywhere, or every rank throws: its own
/// exception where it failed, elsewhere peer_failed naming the first rank that did. Collective; one
/// allgather.
template <class Step>
[[nodiscard]] auto allgather_agreed(Bootstrap& group, std::string_view operation, Step&& step) {
  using Record = decltype(step());
  struct Message {
    Verdict verdict;
    Record record{};
  };
  Message mine;
  std::exception_ptr exception;
  try {
    mine.record = step();
  } catch (...) {
    exception = std::current_exception();
    mine.verdict = detail::current_exception_as_verdict();
  }
  const std::vector<Message> all = allgather_records(group, mine);
  if (exception) std::rethrow_exception(exception);
  std::vector<Verdict> verdicts;
  std::vector<Record> records;
  for (const Message& message : all) {
    verdicts.push_back(message.verdict);
    records.push_back(message.record);
  }
  detail::check_verdicts(operation, verdicts);
  return records;
}

/// allgather_agreed for a step that has nothing to tell.
template <class Step>
void agree(Bootstrap& group, std::string_view operation, Step&& step) {
  [[maybe_unused]] const auto all = allgather_agreed(group, operation, [&] {
    step();
    return std::byte{};
  });
}

}  // namespace oriel::bootstrap
