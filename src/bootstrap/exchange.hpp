#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace oriel::bootstrap {

/// Ranks that can tell one another something: a Bootstrap at the start, a team's own collectives
/// later. allgather() returns everybody's bytes, equally many, in the order of ranks.
template <class G>
concept Group = requires(G& group, std::span<const std::byte> mine) {
  { group.allgather(mine) } -> std::same_as<std::vector<std::byte>>;
};

/// Allgather of one plain record per rank.
template <Group G, class Record>
[[nodiscard]] std::vector<Record> allgather_records(G& group, const Record& mine) {
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
/// Throws peer_failed, naming the first rank of `all` that failed; one has.
[[noreturn]] void throw_verdict(std::string_view operation, std::span<const Verdict> all);
}  // namespace detail

/// Runs `step` on every rank, exchanges what it returns, and agrees on the outcome, so that one
/// failing rank strands nobody: either it returned everywhere, or every rank throws: its own
/// exception where it failed, elsewhere peer_failed naming the first rank that did. Collective; one
/// allgather, and another, of the reasons, only after a failure.
template <Group G, class Step>
[[nodiscard]] auto allgather_agreed(G& group, std::string_view operation, Step&& step) {
  using Record = std::remove_cvref_t<decltype(step())>;
  struct Message {
    bool failed = false;
    Record record{};
  };
  Message mine;
  Verdict verdict;
  std::exception_ptr exception;
  try {
    mine.record = step();
  } catch (...) {
    exception = std::current_exception();
    verdict = detail::current_exception_as_verdict();
    mine.failed = true;
  }
  const std::vector<Message> all = allgather_records(group, mine);
  if (std::ranges::any_of(all, &Message::failed)) {
    const std::vector<Verdict> verdicts = allgather_records(group, verdict);
    if (exception) std::rethrow_exception(exception);
    detail::throw_verdict(operation, verdicts);
  }
  std::vector<Record> records;
  for (const Message& message : all) records.push_back(message.record);
  return records;
}

/// allgather_agreed for a step that has nothing to tell.
template <Group G, class Step>
void agree(G& group, std::string_view operation, Step&& step) {
  [[maybe_unused]] const auto all = allgather_agreed(group, operation, [&] {
    step();
    return std::byte{};
  });
}

}  // namespace oriel::bootstrap
