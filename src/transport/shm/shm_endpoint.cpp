#include "transport/shm/shm_endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <oriel/shared_bytes.hpp>

#include "base/reduction.hpp"
#include "base/throw_error.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel::shm {
namespace {

using transport::Completion;
using transport::PostResult;
using transport::RemoteAddress;

std::byte* bytes_of(std::uint64_t& word) noexcept {
  return reinterpret_cast<std::byte*>(&word);
}

std::atomic_ref<std::uint64_t> word_at(RemoteAddress mapped) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(mapped.address));
}

}  // namespace

std::size_t ShmEndpoint::put(const std::byte* source, std::size_t bytes, RemoteAddress target,
                             Completion& done) {
  if (target.key == kMapped) {
    detail::store_bytes(reinterpret_cast<std::byte*>(target.address), source, bytes);
    return bytes;
  }
  return copy(Direction::write, const_cast<std::byte*>(source), bytes, target,
              done);  // NOLINT: iovec has no const
}

std::size_t ShmEndpoint::get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                             Completion& done) {
  if (target.key == kMapped) {
    detail::load_bytes(destination, reinterpret_cast<const std::byte*>(target.address), bytes);
    return bytes;
  }
  return copy(Direction::read, destination, bytes, target, done);
}

PostResult ShmEndpoint::fetch_add(std::uint64_t operand, std::uint64_t* result,
                                  RemoteAddress target, Completion& done) {
  if (target.key != kMapped) {
    return ask_for_atomic(AgentOperation::fetch_add, sizeof operand, bytes_of(operand),
                          bytes_of(operand), reinterpret_cast<std::byte*>(result), target, done);
  }
  const std::uint64_t old = word_at(target).fetch_add(operand);
  if (result != nullptr) *result = old;
  return PostResult::posted;
}

PostResult ShmEndpoint::compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                         std::uint64_t* result, RemoteAddress target,
                                         Completion& done) {
  return swap_element(sizeof swap, bytes_of(compare), bytes_of(swap), bytes_of(*result), target,
                      done);
}

PostResult ShmEndpoint::swap_element(std::size_t bytes, const std::byte* compare,
                                     const std::byte* swap, std::byte* result, RemoteAddress target,
                                     Completion& done) {
  if (target.key != kMapped) {
    return ask_for_atomic(AgentOperation::compare_and_swap, bytes, swap, compare, result, target,
                          done);
  }
  base::compare_and_swap_shared(bytes, reinterpret_cast<std::byte*>(target.address), compare, swap,
                                result);
  return PostResult::posted;
}

std::size_t ShmEndpoint::accumulate(const transport::Reduction& reduction, RemoteAddress target,
                                    Completion& done) {
  if (target.key != kMapped) return ask_for_accumulate(reduction, target, done);
  base::reduce_shared(reduction.type, reduction.op, reinterpret_cast<std::byte*>(target.address),
                      reduction.operands, reduction.results, reduction.count);
  return reduction.count;
}

AgentSlot* ShmEndpoint::claim_slot() {
  if (!transport_.has_room()) return nullptr;
  for (AgentSlot& slot : control_.slots) {
    std::uint32_t expected = AgentSlot::free;
    if (slot.state.load(std::memory_order_relaxed) == AgentSlot::free &&
        slot.state.compare_exchange_strong(expected, AgentSlot::claimed)) {
      return &slot;
    }
  }
  return nullptr;
}

bool ShmEndpoint::is_lost(Completion& done) {
  const auto death = transport_.death_of(peer_.rank);
  if (!death) return false;
  fail(ErrorCode::peer_lost,
       {.operation = "request of the target's agent",
        .problem = death->how,
        .hint = "see why that rank ended"},
       done);
  return true;
}

void ShmEndpoint::submit(AgentSlot& slot, AgentOperation operation, RemoteAddress target) {
  slot.operation = operation;
  slot.requester = transport_.world_rank();
  slot.address = target.address;
  slot.sequence = sequence_++;
  slot.pass_on(AgentSlot::ready);
  control_.agent_doorbell.ring();
  ++asked_;
}

std::span<std::byte> ShmEndpoint::staging_of(const AgentSlot& slot) const noexcept {
  return control_.staging[static_cast<std::size_t>(&slot - control_.slots.data())];
}

PostResult ShmEndpoint::ask_for_atomic(AgentOperation operation, std::size_t bytes,
                                       const std::byte* operand, const std::byte* compare,
                                       std::byte* result, RemoteAddress target, Completion& done) {
  AgentSlot* const slot = claim_slot();
  if (slot == nullptr) return is_lost(done) ? PostResult::posted : PostResult::no_credit;
  slot->bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(&slot->operand, operand, bytes);
  std::memcpy(&slot->compare, compare, bytes);
  submit(*slot, operation, target);
  done.started();
  if (result == nullptr) done.locally_done();
  transport_.expect({.slot = slot,
                     .from = bytes_of(slot->result),
                     .to = result,
                     .bytes = bytes,
                     .endpoint = this,
                     .done = &done});
  return PostResult::posted;
}

std::size_t ShmEndpoint::ask_for_accumulate(const transport::Reduction& reduction,
                                            RemoteAddress target, Completion& done) {
  AgentSlot* const slot = claim_slot();
  if (slot == nullptr) return is_lost(done) ? reduction.count : 0;
  const std::span<std::byte> staging = staging_of(*slot);
  const std::size_t count = std::min(reduction.count, staging.size() / reduction.type.bytes);
  const std::size_t bytes = count * reduction.type.bytes;
  slot->bytes = static_cast<std::uint32_t>(bytes);
  slot->type = reduction.type;
  slot->op = reduction.op;
  if (reduction.op != OpCode::no_op) std::memcpy(staging.data(), reduction.operands, bytes);
  const bool gets = reduction.results != nullptr;
  submit(*slot, gets ? AgentOperation::get_accumulate : AgentOperation::accumulate, target);
  done.started();
  if (!gets) done.locally_done();
  transport_.expect({.slot = slot,
                     .from = staging.data(),
                     .to = reduction.results,
                     .bytes = bytes,
                     .endpoint = this,
                     .done = &done});
  return count;
}

std::size_t ShmEndpoint::ask_for_copy(Direction direction, std::byte* mine, std::size_t bytes,
                                      RemoteAddress theirs, Completion& done) {
  AgentSlot* const slot = claim_slot();
  if (slot == nullptr) return is_lost(done) ? bytes : 0;
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

PostResult ShmEndpoint::add(std::uint64_t operand, RemoteAddress word, Completion& /*done*/) {
  if (asked_ != 0) return PostResult::no_credit;
  word_at(word).fetch_add(operand);
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
