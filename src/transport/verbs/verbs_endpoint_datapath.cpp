// Everything that runs per operation: no allocation, lock, system call of ours or exception, but
// for the first operation to a peer, which connects.
//
// What most operations take is [[gnu::hot]], here and above: the linker puts it side by side, so
// that an operation touches few pages of code. After a system call or a pause they are cold, and
// then they cost more than the instructions on them.
//
// A write is complete when its completion says so: the responder has acknowledged it, and a reader
// of the target's memory sees it (or will after the read that seal() posts, see ORIEL_VISIBILITY).
// Atomics are atomic among operations of the target's device only, not to the target's CPU, unless
// the device says otherwise (Capabilities::atomics).

#include <algorithm>
#include <bit>
#include <cstring>

#include "transport/verbs/completion_poller.hpp"
#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

using transport::Completion;
using transport::PostResult;
using transport::RemoteAddress;

void VerbsEndpoint::commit(WorkRecord& record, Completion& done, bool wants_completion,
                           Doorbell doorbell) noexcept {
  record.done = &done;
  commit_known(record, record.opcode, record.length, record.holding, wants_completion, doorbell);
}

[[gnu::hot]] void VerbsEndpoint::post_all_staged() noexcept {
  SendLedger& ledger = ready_->ledger;
  const auto result = ready_->connection->poster().post(ledger);
  if (transport::Tally* const tally = ledger.record(ledger.next() - 1).done->tally)
    tally->doorbells.add(1);
  ledger.mark_posted(result.posted);
  if (result.error != 0) post_failed(result.error);
}

void VerbsEndpoint::post_failed(int error) noexcept {
  device_failed("posting a work request", error);
}

/// What most operations are is flattened: one frame from here to the device.
[[gnu::hot, gnu::flatten]] std::size_t VerbsEndpoint::put(const std::byte* source,
                                                          std::size_t bytes, RemoteAddress target,
                                                          Completion& done) {
  if (!may_go_alone() || bytes > kSmallBytes) [[unlikely]]
    return put_among(source, bytes, target, done);
  const auto length = static_cast<std::uint32_t>(bytes);
  SendSide& send = *uncorked_;
  WorkRecord& record =
      begin_alone(send, Operation::put, Opcode::write, length, target, Holding::nothing);
  copy_small(record.local, source, bytes);
  post_alone(send, record, Opcode::write, length, Holding::nothing, done);
  return bytes;
}

/// put() among others, or of more bytes.
[[gnu::hot]] std::size_t VerbsEndpoint::put_among(const std::byte* source, std::size_t bytes,
                                                  RemoteAddress target, Completion& done) noexcept {
  if (!may_record()) [[unlikely]]
    return once_admitted(done, bytes, std::size_t{0},
                         [=, this, &done] { return put(source, bytes, target, done); });
  if (bytes > kSmallBytes) return put_large(source, bytes, target, done);
  const auto length = static_cast<std::uint32_t>(bytes);
  WorkRecord& record = begin(Operation::put, Opcode::write, length, target, Holding::nothing);
  copy_small(record.local, source, bytes);
  record.done = &done;
  commit_known(record, Opcode::write, length, Holding::nothing, false, Doorbell::may_wait);
  return bytes;
}

/// Requires: admitted.
std::size_t VerbsEndpoint::put_large(const std::byte* source, std::size_t bytes,
                                     RemoteAddress target, Completion& done) noexcept {
  auto length =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes, services_.max_message_bytes));
  WorkRecord& record = begin(Operation::put, Opcode::write, length, target, Holding::memory);
  if (const auto range = services_.ranges.find(source); range.bytes > 0) {
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, range.bytes));
    record.local = const_cast<std::byte*>(source);  // the device only reads it
    record.lkey = range.lkey;
  } else {
    if (!take_slot(record, Holding::slot)) return note_retry(done);
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, BouncePool::kSlotBytes));
    std::memcpy(record.local, source, length);
  }
  record.length = length;
  // Slots come back by themselves: a request that holds one always asks for its completion.
  commit(record, done, record.holds_slot(), doorbell_for(record));
  return length;
}

/// Small ones by a place of ours: to copy them costs less than to look for what is registered.
[[gnu::hot, gnu::flatten]] std::size_t VerbsEndpoint::get(std::byte* destination, std::size_t bytes,
                                                          RemoteAddress target, Completion& done) {
  if (!may_go_alone() || bytes > kSmallBytes) [[unlikely]]
    return get_among(destination, bytes, target, done);
  const auto length = static_cast<std::uint32_t>(bytes);
  SendSide& send = *uncorked_;
  WorkRecord& record =
      begin_alone(send, Operation::get, Opcode::read, length, target, Holding::memory);
  record.copy_to = destination;
  post_alone(send, record, Opcode::read, length, Holding::memory, done);
  return bytes;
}

[[gnu::hot]] std::size_t VerbsEndpoint::get_among(std::byte* destination, std::size_t bytes,
                                                  RemoteAddress target, Completion& done) noexcept {
  if (!may_record()) [[unlikely]]
    return once_admitted(done, bytes, std::size_t{0},
                         [=, this, &done] { return get(destination, bytes, target, done); });
  if (bytes > kSmallBytes) return get_large(destination, bytes, target, done);
  const auto length = static_cast<std::uint32_t>(bytes);
  WorkRecord& record = begin(Operation::get, Opcode::read, length, target, Holding::memory);
  record.copy_to = destination;
  record.done = &done;
  commit_known(record, Opcode::read, length, Holding::memory, false, Doorbell::may_wait);
  return bytes;
}

/// Requires: admitted.
std::size_t VerbsEndpoint::get_large(std::byte* destination, std::size_t bytes,
                                     RemoteAddress target, Completion& done) noexcept {
  auto length =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes, services_.max_message_bytes));
  WorkRecord& record = begin(Operation::get, Opcode::read, length, target, Holding::memory);
  if (const auto range = services_.ranges.find(destination); range.bytes > 0) {
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, range.bytes));
    record.local = destination;
    record.lkey = range.lkey;
  } else {
    if (!take_slot(record, Holding::memory_and_slot)) return note_retry(done);
    record.copy_to = destination;
    record.operand = 0;  // no runs
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, BouncePool::kSlotBytes));
  }
  record.length = length;
  commit(record, done, record.holds_slot(), doorbell_for(record));
  return length;
}

inline PostResult VerbsEndpoint::post_atomic(Opcode opcode, Operation operation,
                                             std::uint64_t operand, std::uint64_t swap,
                                             std::uint64_t* result, RemoteAddress target,
                                             Completion& done) noexcept {
  if (may_go_alone()) {
    SendSide& send = *uncorked_;
    WorkRecord& record =
        begin_alone(send, operation, opcode, sizeof *result, target, Holding::memory);
    record.operand = operand;
    record.swap = swap;
    record.copy_to = std::bit_cast<std::byte*>(result);
    post_alone(send, record, opcode, sizeof *result, Holding::memory, done);
    return PostResult::posted;
  }
  if (!may_record()) [[unlikely]] {
    return once_admitted(done, PostResult::posted, PostResult::no_credit, [=, this, &done] {
      return post_atomic(opcode, operation, operand, swap, result, target, done);
    });
  }
  WorkRecord& record = begin(operation, opcode, sizeof *result, target, Holding::memory);
  record.operand = operand;
  record.swap = swap;
  record.copy_to = std::bit_cast<std::byte*>(result);
  commit(record, done, false, Doorbell::may_wait);
  return PostResult::posted;
}

[[gnu::hot, gnu::flatten]] PostResult VerbsEndpoint::fetch_add(std::uint64_t operand,
                                                               std::uint64_t* result,
                                                               RemoteAddress target,
                                                               Completion& done) {
  return post_atomic(Opcode::fetch_add, Operation::fetch_add, operand, 0, result, target, done);
}

[[gnu::hot, gnu::flatten]] PostResult VerbsEndpoint::compare_and_swap(std::uint64_t compare,
                                                                      std::uint64_t swap,
                                                                      std::uint64_t* result,
                                                                      RemoteAddress target,
                                                                      Completion& done) {
  return post_atomic(Opcode::compare_and_swap, Operation::compare_and_swap, compare, swap, result,
                     target, done);
}

/// The word is a counter that only grows and is compared by >=. A soft device may copy it byte by
/// byte, ascending: whoever reads it half-written, low bytes new and high bytes old, never sees
/// more than the new value, so at worst he looks again.
PostResult VerbsEndpoint::signal(std::uint64_t value, RemoteAddress word, Completion& done) {
  return post_message(Opcode::write, value, word, done);
}

/// Like a signal, by a request that is atomic to those of other origins.
PostResult VerbsEndpoint::add(std::uint64_t operand, RemoteAddress word, Completion& done) {
  return post_message(Opcode::fetch_add, operand, word, done);
}

/// A message must not overtake what was posted before it. Where a later write may become visible
/// before an earlier one, a read goes between them. And while a read has no answer the target must
/// not be told that it may change what is being read: the message has no room until then.
/// (IBV_SEND_FENCE would leave that waiting to the device. But a fenced request may stay in a queue
/// of Soft-RoCE for ever, with all behind it; and complete() waits for its reads in any case.)
PostResult VerbsEndpoint::post_message(Opcode opcode, std::uint64_t value, RemoteAddress word,
                                       Completion& done) noexcept {
  if (is_ready()) {
    if (must_read_back() && !ready_->ledger.reads_outstanding()) static_cast<void>(seal(done));
    if (ready_->ledger.reads_outstanding()) {
      static_cast<void>(ask_for_completions(done));
      return PostResult::no_credit;
    }
  }
  if (!may_record()) [[unlikely]] {
    return once_admitted(done, PostResult::posted, PostResult::no_credit,
                         [=, this, &done] { return post_message(opcode, value, word, done); });
  }
  // The old value of an atomic goes nowhere.
  WorkRecord& record = begin(Operation::signal, opcode, sizeof value, word, Holding::nothing);
  if (opcode == Opcode::write) {
    std::memcpy(record.local, &value, sizeof value);
  } else {
    record.operand = value;
  }
  // Often the last thing a rank does to a peer: it completes without another request behind it,
  // for which the peer may not be there any more.
  commit(record, done, true, Doorbell::now);
  return PostResult::posted;
}

/// For a completion behind everything, or a sign of life: no bytes, to an address that is valid
/// all the same.
void VerbsEndpoint::post_empty_write(Operation operation, Completion& done) noexcept {
  WorkRecord& record =
      begin(operation, Opcode::write, 0,
            {peer_.visibility_word_address, peer_.visibility_word_rkey}, Holding::nothing);
  commit(record, done, true, Doorbell::now);
}

/// Requires: ready.
PostResult VerbsEndpoint::ask_for_completions(Completion& done) noexcept {
  if (ready_->ledger.signal_last()) {
    post_staged();
    return PostResult::posted;
  }
  if (!has_room()) return PostResult::no_credit;
  post_empty_write(Operation::flush, done);
  return PostResult::posted;
}

/// What was staged with other endpoints is owed a doorbell by progress(), to which whoever waits
/// comes then.
[[gnu::hot, gnu::flatten]] PostResult VerbsEndpoint::seal_and_look(Completion& done) {
  if (!is_ready() || !ready_->ledger.is_sealed() || must_read_back() || !services_.staged.empty())
      [[unlikely]]
    return seal(done);
  poll_one(cq_, services_.endpoints);
  return PostResult::posted;
}

PostResult VerbsEndpoint::seal(Completion& done) {
  if (failure_) done.failed(*failure_);
  if (!is_ready()) return PostResult::posted;
  if (!must_read_back()) return ask_for_completions(done);
  if (!has_room()) return PostResult::no_credit;
  // The answer to a read travels behind the writes to memory before it, on every fabric.
  WorkRecord& record =
      begin(Operation::flush, Opcode::read, sizeof(std::uint64_t),
            {peer_.visibility_word_address, peer_.visibility_word_rkey}, Holding::memory);
  commit(record, done, true, Doorbell::now);
  return PostResult::posted;
}

PostResult VerbsEndpoint::follow(Completion& done) {
  if (!is_ready() || !ready_->ledger.borrows_memory()) return PostResult::posted;
  if (!has_room()) return PostResult::no_credit;
  post_empty_write(Operation::flush, done);
  return PostResult::posted;
}

/// What a completed record brought goes where it belongs.
inline void VerbsEndpoint::finish(const WorkRecord& record) noexcept {
  if (record.opcode != Opcode::write && record.copy_to != nullptr)
    copy_small(record.copy_to, record.local, record.length);
  if (record.holds_slot()) [[unlikely]] {
    if (record.opcode == Opcode::read) scatter(record);
    services_.bounce.release(record.local);
  }
  record.done->finished(record.is_locally_done());
}

[[gnu::hot, gnu::flatten]] std::uint32_t VerbsEndpoint::completed(std::uint32_t number) noexcept {
  // A number that is not in flight was left behind by a destroyed queue pair.
  if (ready_ == nullptr || !ready_->ledger.is_in_flight(number)) return 0;
  SendLedger& ledger = ready_->ledger;
  if (transport::Tally* const tally = ledger.record(number).done->tally) tally->completions.add(1);
  const auto count =
      ledger.retire_through(number, [this](const WorkRecord& record) { finish(record); });
  cq_.give_back(count);
  return count;
}

}  // namespace oriel::verbs
