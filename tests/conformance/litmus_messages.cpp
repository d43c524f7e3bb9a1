// Message passing, by everything that may carry a sign; and store buffering.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "conformance/litmus.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kData = 40;          // words of a message: more than a small one
constexpr std::size_t kFlag = kData;       // the writer's sign
constexpr std::size_t kTaken = kFlag + 1;  // the reader's: the next may come
constexpr std::size_t kWords = kTaken + 1;

using Message = std::array<Words::Word, kData>;

Message message(std::int64_t round) {
  Message data{};
  data.fill(round);
  return data;
}

/// What the neighbour has sent to this rank.
std::string check(Words& words, std::int64_t round) {
  const std::span<const Words::Word> data = words.mine().first(kData);
  const auto wrong = std::ranges::find_if(data, [&](Words::Word word) { return word != round; });
  if (wrong == data.end()) return {};
  return fmt::format("round {}: the sign came, and word {} of the message was {}", round,
                     wrong - data.begin(), *wrong);
}

}  // namespace

std::string message_by_flag(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  std::string wrong;
  Rounds rounds(stand, 200, 4'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Message data = message(round);
    win.put(data, stand.right(), words.at(stand.right(), 0));
    win.flush(stand.right());
    win.put(round, stand.right(), words.at(stand.right(), kFlag));
    win.flush(stand.right());
    words.wait_until(kFlag, round);
    if (wrong.empty()) wrong = check(words, round);
    win.put(round, stand.left(), words.at(stand.left(), kTaken));
    win.flush(stand.left());
    words.wait_until(kTaken, round);
  }
  win.fence();
  return wrong;
}

std::string message_by_notification(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  std::string wrong;
  Rounds rounds(stand, 200, 4'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Message data = message(round);
    // Half by an operation before, half with the notification itself.
    win.put(std::span(data).first(kData / 2), stand.right(), words.at(stand.right(), 0));
    win.put_notify(std::span(data).subspan(kData / 2), stand.right(),
                   words.at(stand.right(), kData / 2), 1);
    win.wait_notify(1);
    if (wrong.empty()) wrong = check(words, round);
    win.put_notify({}, stand.left(), words.at(stand.left(), 0), 2);
    win.wait_notify(2);
    win.flush_local_all();
  }
  win.fence();
  return wrong;
}

/// A sign behind reads says that they are done: what was read may change.
std::string message_behind_reads(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  const std::span<Words::Word> mine = words.mine().first(kData);
  std::string wrong;
  std::ranges::fill(mine, 1);
  win.fence();
  Rounds rounds(stand, 200, 4'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    Message found{};
    if (round % 2 == 0) {
      win.get_notify(found, stand.right(), words.at(stand.right(), 0), 1);
    } else {
      win.get(found, stand.right(), words.at(stand.right(), 0));
      win.put_notify({}, stand.right(), words.at(stand.right(), 0), 1);
    }
    win.wait_notify(1);
    std::ranges::fill(mine, round + 1);
    win.flush_local(stand.right());
    if (wrong.empty() && found != message(round)) {
      wrong = fmt::format("round {}: it read {} … {}", round, found.front(), found.back());
    }
    win.put_notify({}, stand.left(), words.at(stand.left(), 0), 2);
    win.wait_notify(2);
  }
  win.fence();
  return wrong;
}

std::string message_by_fence(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  std::string wrong;
  Rounds rounds(stand, 100, 2'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Message data = message(round);
    win.put(data, stand.right(), words.at(stand.right(), 0));
    win.fence();
    if (wrong.empty()) wrong = check(words, round);
    win.fence();
  }
  return wrong;
}

std::string message_by_pscw(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  const std::array<Rank, 1> origins = {stand.left()};
  const std::array<Rank, 1> targets = {stand.right()};
  std::string wrong;
  Rounds rounds(stand, 200, 4'000, Rounds::Pace::common);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Message data = message(round);
    win.post(origins);
    win.start(targets);
    win.put(data, stand.right(), words.at(stand.right(), 0));
    win.complete();
    win.wait();
    if (wrong.empty()) wrong = check(words, round);
  }
  win.fence();
  return wrong;
}

/// Writers change message and number under an exclusive lock; who finds a number under a shared one
/// finds its message.
std::string message_by_lock(const Stand& stand) {
  Words words(stand, kWords);
  Window<Words::Word>& win = words.window();
  std::string wrong;
  Rounds rounds(stand, 60, 100'000);
  while (rounds.next()) {
    const std::int64_t round = rounds.number();
    const Message data = message(round);
    {
      LockGuard guard = win.lock(stand.right(), LockMode::exclusive);
      win.put(data, stand.right(), words.at(stand.right(), 0));
      win.put(round, stand.right(), words.at(stand.right(), kFlag));
      guard.unlock();
    }
    Message found{};
    Words::Word number = 0;
    {
      LockGuard guard = win.lock(Rank(stand.rank()), LockMode::shared);
      number = win.get(Rank(stand.rank()), words.at(Rank(stand.rank()), kFlag));
      win.get(found, Rank(stand.rank()), words.at(Rank(stand.rank()), 0));
      guard.unlock();
    }
    if (wrong.empty() && found != message(number)) {
      wrong = fmt::format("round {}: number {} with a message of {} … {}", round, number,
                          found.front(), found.back());
    }
  }
  win.fence();
  return wrong;
}

/// Of two ranks each counts in the other's part, and reads what the other has counted in its own.
/// Whoever finds j has read before the other's count of j + 1 was complete: so the other, which
/// read after that, finds this rank's count.
std::string store_buffering(const Stand& stand) {
  Words words(stand, 1);
  Window<Words::Word>& win = words.window();
  const int other = stand.rank() ^ 1;
  std::vector<Words::Word> seen(1);  // by round, from 1 on
  Rounds rounds(stand, 300, 200'000);
  while (other < stand.ranks() && rounds.next()) {
    win.put(rounds.number(), Rank(other), words.at(Rank(other), 0));
    win.flush(Rank(other));
    seen.push_back(win.get(Rank(stand.rank()), words.at(Rank(stand.rank()), 0)));
  }
  win.fence();
  const std::vector<Words::Word> all = gather_words(stand, seen);
  const std::vector<std::uint64_t> counts = stand.job.gather(seen.size());
  if (other >= stand.ranks()) return {};
  const std::size_t start =
      std::accumulate(counts.begin(), counts.begin() + other, std::uint64_t{0});
  const std::span<const Words::Word> theirs =
      std::span(all).subspan(start, counts[static_cast<std::size_t>(other)]);
  for (std::size_t round = 1; round < seen.size(); ++round) {
    const auto after = static_cast<std::size_t>(seen[round]) + 1;
    if (after < theirs.size() && theirs[after] < static_cast<Words::Word>(round)) {
      return fmt::format("after writing {} it read {}; rank {}, after writing {}, read {}", round,
                         seen[round], other, after, theirs[after]);
    }
  }
  return {};
}

}  // namespace oriel::conformance
