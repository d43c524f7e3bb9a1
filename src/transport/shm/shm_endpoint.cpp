#include "transport/shm/shm_endpoint.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/shared_bytes.hpp"
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
    base::store_bytes(reinterpret_cast<std::byte*>(target.address), source, bytes);
    return bytes;
  }
  return copy(Direction::write, const_cast<std::byte*>(source), bytes, target,
              done);  // NOLINT: iovec has no const
}

std::size_t ShmEndpoint::get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                             Completion& done) {
  if (target.key == kMapped) {
    base::load_bytes(destination, reinterpret_cast<const std::byte*>(target.address), bytes);
    return bytes;
  }
  return copy(Direction::read, destination, bytes, target, done);
}

std::size_t ShmEndpoint::copy(Direction direction, std::byte* mine, std::size_t bytes,
                              RemoteAddress theirs, Completion& done) {
  if (!transport_.may_copy()) return ask_for_copy(direction, mine, bytes, theirs, done);
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
  done.locally_done();
  done.remotely_done();
  return bytes;
}

PostResult ShmEndpoint::fetch_add(std::uint64_t operand, std::uint64_t* result,
                                  RemoteAddress target, Completion& done) {
  if (target.key != kMapped) {
    return ask_for_atomic(AgentOperation::fetch_add, operand, 0, result, target, done);
  }
  *result = word_at(target).fetch_add(operand);
  return PostResult::posted;
}

PostResult ShmEndpoint::compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                         std::uint64_t* result, RemoteAddress target,
                                         Completion& done) {
  if (target.key != kMapped) {
    return ask_for_atomic(AgentOperation::compare_and_swap, swap, compare, result, target, done);
  }
  word_at(target).compare_exchange_strong(compare, swap);
  *result = compare;
  return PostResult::posted;
}

AgentSlot* ShmEndpoint::claim_slot() {
  if (!transport_.has_room()) return nullptr;
  for (AgentSlot& slot : control_.slots) {
    std::uint32_t expected = AgentSlot::free;
    if (slot.state.compare_exchange_strong(expected, AgentSlot::claimed)) return &slot;
  }
  return nullptr;
}

void ShmEndpoint::submit(AgentSlot& slot, AgentOperation operation, RemoteAddress target) {
  slot.operation = operation;
  slot.requester = transport_.world_rank();
  slot.address = target.address;
  slot.state.store(AgentSlot::ready, std::memory_order_release);
  control_.agent_doorbell.ring();
  ++asked_;
}

std::span<std::byte> ShmEndpoint::staging_of(const AgentSlot& slot) const noexcept {
  return control_.staging[static_cast<std::size_t>(&slot - control_.slots.data())];
}

PostResult ShmEndpoint::ask_for_atomic(AgentOperation operation, std::uint64_t operand,
                                       std::uint64_t compare, std::uint64_t* result,
                                       RemoteAddress target, Completion& done) {
  AgentSlot* const slot = claim_slot();
  if (slot == nullptr) return PostResult::no_credit;
  slot->operand = operand;
  slot->compare = compare;
  submit(*slot, operation, target);
  done.started();
  transport_.expect({.slot = slot,
                     .from = reinterpret_cast<const std::byte*>(&slot->result),
                     .to = reinterpret_cast<std::byte*>(result),
                     .bytes = sizeof *result,
                     .endpoint = this,
                     .done = &done});
  return PostResult::posted;
}

std::size_t ShmEndpoint::ask_for_copy(Direction direction, std::byte* mine, std::size_t bytes,
                                      RemoteAddress theirs, Completion& done) {
  AgentSlot* const slot = claim_slot();
  if (slot == nullptr) return 0;
  const bool writes = direction == Direction::write;
  const std::span<std::byte> staging = staging_of(*slot);
  const std::size_t piece = std::min(bytes, staging.size());
  slot->bytes = static_cast<std::uint32_t>(piece);
  if (writes) std::memcpy(staging.data(), mine, piece);
  submit(*slot, writes ? AgentOperation::write : AgentOperation::read, theirs);
  done.started();
  if (writes) done.locally_done();
  transport_.expect({.slot = slot,
                     .from = staging.data(),
                     .to = writes ? nullptr : mine,
                     .bytes = piece,
                     .endpoint = this,
                     .done = &done});
  return piece;
}

PostResult ShmEndpoint::signal(std::uint64_t value, RemoteAddress word, Completion& /*done*/) {
  if (asked_ != 0)
    return PostResult::no_credit;  // it must not overtake what the agent still has to do
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
}

std::string ShmEndpoint::describe() const {
  return fmt::format("shared memory of process {}", peer_.pid);
}

}  // namespace oriel::shm
