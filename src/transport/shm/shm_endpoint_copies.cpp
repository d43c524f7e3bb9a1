// Copies from and to memory of another process, by the kernel: process_vm_readv and writev.

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <oriel/shared_bytes.hpp>

#include "transport/shm/shm_endpoint.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel::shm {
namespace {

using transport::Completion;
using transport::RemoteAddress;
using transport::Run;

// The kernel cuts a call at 2 GiB less a page; whole gibibytes keep the pieces aligned.
constexpr std::size_t kLargestCopy = std::size_t{1} << 30U;
constexpr std::size_t kRunsPerCall = 64;

iovec piece_of(std::byte* address, std::size_t bytes) noexcept {
  return {.iov_base = address, .iov_len = bytes};
}
iovec piece_of(std::uint64_t address, std::size_t bytes) noexcept {
  return {.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
}

ssize_t move(bool writes, std::int64_t pid, std::span<const iovec> mine,
             std::span<const iovec> theirs) noexcept {
  const auto call = writes ? ::process_vm_writev : ::process_vm_readv;
  return call(static_cast<pid_t>(pid), mine.data(), mine.size(), theirs.data(), theirs.size(), 0);
}

}  // namespace

std::size_t ShmEndpoint::copy(Direction direction, std::byte* mine, std::size_t bytes,
                              RemoteAddress theirs, Completion& done) {
  if (!transport_.may_copy()) return ask_for_copy(direction, mine, bytes, theirs, done);
  const std::size_t piece = std::min(bytes, kLargestCopy);
  const iovec local = piece_of(mine, piece);
  const iovec remote = piece_of(theirs.address, piece);
  const ssize_t moved =
      move(direction == Direction::write, peer_.pid, std::span(&local, 1), std::span(&remote, 1));
  if (moved > 0) return static_cast<std::size_t>(moved);
  fail_copy(direction, piece, errno, done);
  return bytes;
}

std::size_t ShmEndpoint::copy_runs(Direction direction, std::span<const Run> runs,
                                   RemoteAddress target, Completion& done) {
  if (!transport_.may_copy()) {  // a piece for the agent each
    const Run& run = runs.front();
    return ask_for_copy(direction, run.origin, run.bytes, target.plus(run.offset), done) != 0 ? 1
                                                                                              : 0;
  }
  std::array<iovec, kRunsPerCall> mine;
  std::array<iovec, kRunsPerCall> theirs;
  const std::size_t count = std::min(runs.size(), kRunsPerCall);
  for (std::size_t i = 0; i < count; ++i) {
    mine[i] = piece_of(runs[i].origin, runs[i].bytes);
    theirs[i] = piece_of(target.plus(runs[i].offset).address, runs[i].bytes);
  }
  const ssize_t moved = move(direction == Direction::write, peer_.pid, std::span(mine).first(count),
                             std::span(theirs).first(count));
  if (moved < 0) {
    fail_copy(direction, runs.front().bytes, errno, done);
    return runs.size();
  }
  // The kernel stops at the run that it cannot copy, which then fails by itself.
  auto left = static_cast<std::size_t>(moved);
  std::size_t whole = 0;
  while (whole < count && runs[whole].bytes <= left) left -= runs[whole++].bytes;
  if (whole > 0) return whole;
  fail_copy(direction, runs.front().bytes, EFAULT, done);
  return runs.size();
}

void ShmEndpoint::fail_copy(Direction direction, std::size_t bytes, int error, Completion& done) {
  const bool gone = error == ESRCH;
  done.started();
  fail(gone ? ErrorCode::peer_lost : ErrorCode::transport_failed,
       {.operation = direction == Direction::write ? "process_vm_writev" : "process_vm_readv",
        .problem = gone ? "the peer's process is gone" : "the kernel refused the copy",
        .length_bytes = bytes,
        .system_errno = error,
        .hint = error == EFAULT ? "memory of the window or the origin buffer was unmapped"
                                : "see the first error of that rank"},
       done);
  done.finished(false);
}

std::size_t ShmEndpoint::put_runs(std::span<const Run> runs, RemoteAddress target,
                                  Completion& done) {
  if (target.key != kMapped) return copy_runs(Direction::write, runs, target, done);
  for (const Run& run : runs) {
    const std::uint64_t address = target.plus(run.offset).address;
    detail::store_bytes(reinterpret_cast<std::byte*>(address), run.origin, run.bytes);
  }
  return runs.size();
}

std::size_t ShmEndpoint::get_runs(std::span<const Run> runs, RemoteAddress target,
                                  Completion& done) {
  if (target.key != kMapped) return copy_runs(Direction::read, runs, target, done);
  for (const Run& run : runs) {
    const std::uint64_t address = target.plus(run.offset).address;
    detail::load_bytes(run.origin, reinterpret_cast<const std::byte*>(address), run.bytes);
  }
  return runs.size();
}

}  // namespace oriel::shm
