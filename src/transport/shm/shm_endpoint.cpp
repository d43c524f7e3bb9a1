#include "transport/shm/shm_endpoint.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel::shm {
namespace {

using transport::Completion;
using transport::PostResult;
using transport::RemoteAddress;

// The kernel cuts a call at 2 GiB less a page; whole gibibytes keep the pieces aligned.
constexpr std::size_t kLargestCopy = std::size_t{1} << 30U;

std::atomic_ref<std::uint64_t> word_at(RemoteAddress mapped) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(mapped.address));
}

}  // namespace

std::size_t ShmEndpoint::put(const std::byte* source, std::size_t bytes, RemoteAddress target,
                             Completion& done) {
  if (target.key == kMapped) {
    std::memcpy(reinterpret_cast<void*>(target.address), source, bytes);
    return bytes;
  }
  return copy(Direction::write, const_cast<std::byte*>(source), bytes, target,
              done);  // NOLINT: iovec has no const
}

std::size_t ShmEndpoint::get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                             Completion& done) {
  if (target.key == kMapped) {
    std::memcpy(destination, reinterpret_cast<const void*>(target.address), bytes);
    return bytes;
  }
  return copy(Direction::read, destination, bytes, target, done);
}

std::size_t ShmEndpoint::copy(Direction direction, std::byte* mine, std::size_t bytes,
                              RemoteAddress theirs, Completion& done) {
  const std::size_t piece = std::min(bytes, kLargestCopy);
  const iovec local{.iov_base = mine, .iov_len = piece};
  const iovec remote{.iov_base = reinterpret_cast<void*>(theirs.address), .iov_len = piece};
  const auto pid = static_cast<pid_t>(peer_.pid);
  const ssize_t moved = direction == Direction::write
                            ? ::process_vm_writev(pid, &local, 1, &remote, 1, 0)
                            : ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  if (moved > 0) return static_cast<std::size_t>(moved);
  const int error = errno;
  const bool gone = error == ESRCH;
  done.started();
  fail(gone ? ErrorCode::peer_lost : ErrorCode::transport_failed,
       {.operation = direction == Direction::write ? "process_vm_writev" : "process_vm_readv",
        .problem = gone ? "the peer's process is gone" : "the kernel refused the copy",
        .length_bytes = piece,
        .system_errno = error,
        .hint = error == EFAULT ? "memory of the window or the origin buffer was unmapped"
                                : "see the first error of that rank"},
       done);
  return bytes;
}

PostResult ShmEndpoint::fetch_add(std::uint64_t operand, std::uint64_t* result,
                                  RemoteAddress target, Completion& done) {
  if (target.key != kMapped) {
    return ask_agent(AgentOperation::fetch_add, operand, 0, result, target, done);
  }
  *result = word_at(target).fetch_add(operand);
  return PostResult::posted;
}

PostResult ShmEndpoint::compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                         std::uint64_t* result, RemoteAddress target,
                                         Completion& done) {
  if (target.key != kMapped) {
    return ask_agent(AgentOperation::compare_and_swap, swap, compare, result, target, done);
  }
  word_at(target).compare_exchange_strong(compare, swap);
  *result = compare;
  return PostResult::posted;
}

PostResult ShmEndpoint::ask_agent(AgentOperation operation, std::uint64_t operand,
                                  std::uint64_t compare, std::uint64_t* result,
                                  RemoteAddress target, Completion& done) {
  if (!transport_.has_room()) return PostResult::no_credit;
  for (AgentSlot& slot : control_.slots) {
    std::uint32_t expected = AgentSlot::free;
    if (!slot.state.compare_exchange_strong(expected, AgentSlot::claimed)) continue;
    slot.operation = operation;
    slot.requester = transport_.world_rank();
    slot.address = target.address;
    slot.operand = operand;
    slot.compare = compare;
    slot.state.store(AgentSlot::ready, std::memory_order_release);
    control_.agent_doorbell.ring();
    done.started();
    transport_.expect({.slot = &slot, .result = result, .endpoint = this, .done = &done});
    return PostResult::posted;
  }
  return PostResult::no_credit;
}

PostResult ShmEndpoint::signal(std::uint64_t value, RemoteAddress word, Completion& /*done*/) {
  word_at(word).store(value, std::memory_order_release);
  control_.doorbell.ring();
  return PostResult::posted;
}

// A store may still be in this core's store buffer while a later load of ours is answered: the full
// barrier makes a flushed put visible before anything this thread does next.
PostResult ShmEndpoint::seal(Completion& /*done*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return PostResult::posted;
}

void ShmEndpoint::fail(ErrorCode code, ErrorDetails details, Completion& done) {
  if (!failure_) {
    details.origin = transport_.world_rank();
    details.target = peer_.rank;
    details.target_host = peer_.host;
    if (code == ErrorCode::peer_lost) transport_.report_dead(peer_.rank, details.problem);
    failure_.emplace(code, std::move(details));
  }
  done.failed(*failure_);
  done.locally_done();
  done.remotely_done();
}

std::string ShmEndpoint::describe() const {
  return fmt::format("shared memory of process {}", peer_.pid);
}

}  // namespace oriel::shm
