// Strided transfers: runs that lie side by side at the target are one work request, whatever they
// do at the origin. Gathering and scattering is done by copies through a bounce slot: for runs of a
// few bytes that costs less than a scatter-gather entry each, and there may be more of them than a
// device has entries for.

#include <algorithm>
#include <cstring>
#include <span>

#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

using transport::Completion;
using transport::RemoteAddress;
using transport::Run;

namespace {

/// Where the bytes of one run go, at the head of a bounce slot that gets them.
struct ScatterEntry {
  std::byte* to;
  std::size_t bytes;
};
constexpr std::size_t kScatterBytes = transport::kMostScattered * sizeof(ScatterEntry);
static_assert(kScatterBytes + transport::kMostRunBytes <= BouncePool::kSlotBytes);

/// How many of `runs`, from the first on, follow each other at the target, and their bytes.
struct Joined {
  std::size_t runs = 0;
  std::size_t bytes = 0;
};
Joined join(std::span<const Run> runs, std::size_t most_runs, std::size_t most_bytes) noexcept {
  Joined joined;
  for (const Run& run : runs.first(std::min(runs.size(), most_runs))) {
    if (joined.runs > 0 && run.offset != runs.front().offset + joined.bytes) break;
    if (joined.runs > 0 && joined.bytes + run.bytes > most_bytes) break;
    ++joined.runs;
    joined.bytes += run.bytes;
  }
  return joined;
}

/// Runs post(runs, bytes, offset) for those that can share a request, until it takes none; returns
/// how many runs were taken.
template <class Post>
std::size_t post_joined(std::span<const Run> runs, std::size_t most_runs, std::size_t most_bytes,
                        Post&& post) noexcept {
  std::size_t taken = 0;
  while (taken < runs.size()) {
    const auto rest = runs.subspan(taken);
    const Joined joined = join(rest, most_runs, most_bytes);
    const std::size_t now = post(rest.first(joined.runs), joined.bytes, rest.front().offset);
    if (now == 0) break;
    taken += now;
  }
  return taken;
}

}  // namespace

std::size_t VerbsEndpoint::put_runs(std::span<const Run> runs, RemoteAddress target,
                                    Completion& done) {
  return post_joined(
      runs, runs.size(), BouncePool::kSlotBytes,
      [&](std::span<const Run> joined, std::size_t bytes, std::uint64_t offset) noexcept {
        return put_gathered(joined, bytes, target.plus(offset), done);
      });
}

/// One work request for all of the runs; returns how many they are, or 0.
std::size_t VerbsEndpoint::put_gathered(std::span<const Run> runs, std::size_t bytes,
                                        RemoteAddress target, Completion& done) noexcept {
  if (!may_record()) [[unlikely]] {
    return once_admitted(done, runs.size(), std::size_t{0},
                         [=, this, &done] { return put_gathered(runs, bytes, target, done); });
  }
  WorkRecord& record = begin(Operation::put, Opcode::write, static_cast<std::uint32_t>(bytes),
                             target, Holding::nothing);
  if (bytes > kSmallBytes && !take_slot(record, Holding::slot)) return note_retry(done);
  std::byte* to = record.local;
  for (const Run& run : runs) {
    std::memcpy(to, run.origin, run.bytes);
    to += run.bytes;
  }
  commit(record, done, record.holds_slot(),
         record.holds_slot() ? Doorbell::now : Doorbell::may_wait);
  return runs.size();
}

std::size_t VerbsEndpoint::get_runs(std::span<const Run> runs, RemoteAddress target,
                                    Completion& done) {
  return post_joined(
      runs, transport::kMostScattered, BouncePool::kSlotBytes - kScatterBytes,
      [&](std::span<const Run> joined, std::size_t bytes, std::uint64_t offset) noexcept {
        return get_scattered(joined, bytes, target.plus(offset), done);
      });
}

std::size_t VerbsEndpoint::get_scattered(std::span<const Run> runs, std::size_t bytes,
                                         RemoteAddress target, Completion& done) noexcept {
  if (!may_record()) [[unlikely]] {
    return once_admitted(done, runs.size(), std::size_t{0},
                         [=, this, &done] { return get_scattered(runs, bytes, target, done); });
  }
  WorkRecord& record = begin(Operation::get, Opcode::read, static_cast<std::uint32_t>(bytes),
                             target, Holding::memory);
  if (runs.size() == 1 && bytes <= kSmallBytes) {
    record.copy_to = runs.front().origin;
  } else {
    if (!take_slot(record, Holding::memory_and_slot)) return note_retry(done);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const ScatterEntry entry{runs[i].origin, runs[i].bytes};
      std::memcpy(record.local + i * sizeof entry, &entry, sizeof entry);
    }
    record.operand = runs.size();
    record.local += kScatterBytes;
  }
  commit(record, done, record.holds_slot(),
         record.holds_slot() ? Doorbell::now : Doorbell::may_wait);
  return runs.size();
}

/// What a get has brought goes to the runs that it was for.
void VerbsEndpoint::scatter(const WorkRecord& record) noexcept {
  const std::byte* from = record.local;
  for (std::uint64_t i = 0; i < record.operand; ++i) {
    ScatterEntry entry{};
    std::memcpy(&entry, record.local - kScatterBytes + i * sizeof entry, sizeof entry);
    std::memcpy(entry.to, from, entry.bytes);
    from += entry.bytes;
  }
}

}  // namespace oriel::verbs
