// Everything that runs per operation: no allocation, lock, system call of ours or exception, but
// for the first operation to a peer, which connects.
//
// A write is complete when its completion says so: the responder has acknowledged it, and a reader
// of the target's memory sees it (or will after the read that seal() posts, see ORIEL_VISIBILITY).
// Atomics are atomic among operations of the target's device only, not to the target's CPU, unless
// the device says otherwise (Capabilities::atomics).

#include <algorithm>
#include <bit>
#include <cstring>

#include "transport/verbs/verbs_endpoint.hpp"

namespace oriel::verbs {

using transport::Completion;
using transport::PostResult;
using transport::RemoteAddress;

namespace {

/// The lengths that are the most common cost no call.
void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

/// Whether one more operation may be recorded. On a failed endpoint it is started and failed here,
/// so that nobody waits for it.
VerbsEndpoint::Admission VerbsEndpoint::admit(Completion& done) noexcept {
  if (!is_ready()) [[unlikely]] {
    connect();
    if (!is_ready()) {
      done.failed(*failure_);
      return Admission::failed;
    }
  }
  if (has_room()) [[likely]]
    return Admission::granted;
  note_retry(done);
  return Admission::no_credit;
}

/// The next record, begun, with the payload place that goes with it; commit() takes it in.
/// Requires: admitted.
WorkRecord& VerbsEndpoint::begin(Operation operation, Opcode opcode, std::uint32_t length,
                                 RemoteAddress target) noexcept {
  SendSide& send = *send_;
  const std::uint32_t place = SendLedger::place(send.ledger.next());
  WorkRecord& record = send.ledger.next_record();
  record.operation = operation;
  record.opcode = opcode;
  record.signalled = false;
  record.locally_done = false;
  record.length = length;
  record.lkey = send.payloads.lkey();
  record.rkey = static_cast<std::uint32_t>(target.key);
  record.remote_address = target.address;
  record.local = send.payloads.data() + std::size_t{place} * kSmallBytes;
  record.copy_to = nullptr;
  record.bounce = nullptr;
  return record;  // what is left is set where it is used
}

/// Takes in the record that was begun, and posts it unless it may wait for others to share a
/// doorbell. It never waits beyond the next progress(), seal() or signal(); nor, unless corked,
/// when nothing is in flight.
void VerbsEndpoint::commit(WorkRecord& record, Completion& done, bool wants_completion,
                           Doorbell doorbell) noexcept {
  done.started(record.locally_done);
  record.done = &done;
  SendLedger& ledger = send_->ledger;
  if (transport::Tally* const tally = done.tally) {
    tally->work_requests.add(1);
    if (send_->connection->poster().fits_inline(record)) tally->inline_bytes.add(record.length);
    if (record.bounce != nullptr) tally->bounce_bytes.add(record.length);
  }
  ledger.append(record, wants_completion || services_.cq.is_half_used());
  services_.cq.take_credit();
  const bool now = !is_corked_ && (doorbell == Doorbell::now || ledger.in_flight() == 0);
  if (now || ledger.staged() >= kDoorbellBatch) {
    post_staged();
  } else if (!is_listed_) {
    is_listed_ = true;
    services_.staged.push_back(this);  // never allocates: there is room for every endpoint
  }
}

void VerbsEndpoint::post_staged() noexcept {
  if (!is_ready() || send_->ledger.staged() == 0) return;
  SendLedger& ledger = send_->ledger;
  const auto result = send_->connection->poster().post(ledger);
  if (transport::Tally* const tally = ledger.record(ledger.next() - 1).done->tally)
    tally->doorbells.add(1);
  ledger.mark_posted(result.posted);
  if (result.error != 0) device_failed("posting a work request", result.error);
}

/// Flattened, as the others that most operations are: one frame from here to the device.
[[gnu::flatten]] std::size_t VerbsEndpoint::put(const std::byte* source, std::size_t bytes,
                                                RemoteAddress target, Completion& done) {
  if (const auto admission = admit(done); admission != Admission::granted) [[unlikely]]
    return admission == Admission::failed ? bytes : 0;
  if (bytes <= kSmallBytes) {
    WorkRecord& record =
        begin(Operation::put, Opcode::write, static_cast<std::uint32_t>(bytes), target);
    copy_small(record.local, source, bytes);
    record.locally_done = true;
    commit(record, done, false, Doorbell::may_wait);
    return bytes;
  }
  auto length =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes, services_.max_message_bytes));
  WorkRecord& record = begin(Operation::put, Opcode::write, length, target);
  if (const auto range = services_.ranges.find(source); range.bytes > 0) {
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, range.bytes));
    record.local = const_cast<std::byte*>(source);  // the device only reads it
    record.lkey = range.lkey;
  } else {
    record.bounce = services_.bounce.acquire();
    if (record.bounce == nullptr) return note_retry(done);
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, BouncePool::kSlotBytes));
    std::memcpy(record.bounce, source, length);
    record.local = record.bounce;
    record.lkey = services_.bounce.lkey();
    record.locally_done = true;
  }
  record.length = length;
  // Slots come back by themselves: a request that holds one always asks for its completion.
  commit(record, done, record.bounce != nullptr, Doorbell::now);
  return length;
}

[[gnu::flatten]] std::size_t VerbsEndpoint::get(std::byte* destination, std::size_t bytes,
                                                RemoteAddress target, Completion& done) {
  if (const auto admission = admit(done); admission != Admission::granted) [[unlikely]]
    return admission == Admission::failed ? bytes : 0;
  auto length =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes, services_.max_message_bytes));
  WorkRecord& record = begin(Operation::get, Opcode::read, length, target);
  if (const auto range = services_.ranges.find(destination); range.bytes > 0) {
    length = static_cast<std::uint32_t>(std::min<std::size_t>(length, range.bytes));
    record.local = destination;
    record.lkey = range.lkey;
  } else {
    record.copy_to = destination;
    if (bytes > kSmallBytes) {
      record.bounce = services_.bounce.acquire();
      if (record.bounce == nullptr) return note_retry(done);
      record.operand = 0;  // no runs
      length = static_cast<std::uint32_t>(std::min<std::size_t>(length, BouncePool::kSlotBytes));
      record.local = record.bounce;
      record.lkey = services_.bounce.lkey();
    }
  }
  record.length = length;
  commit(record, done, record.bounce != nullptr,
         length > kSmallBytes ? Doorbell::now : Doorbell::may_wait);
  return length;
}

[[gnu::flatten]] PostResult VerbsEndpoint::post_atomic(Opcode opcode, Operation operation,
                                                       std::uint64_t operand, std::uint64_t swap,
                                                       std::uint64_t* result, RemoteAddress target,
                                                       Completion& done) noexcept {
  if (const auto admission = admit(done); admission != Admission::granted) [[unlikely]]
    return admission == Admission::failed ? PostResult::posted : PostResult::no_credit;
  WorkRecord& record = begin(operation, opcode, sizeof *result, target);
  record.operand = operand;
  record.swap = swap;
  record.copy_to = std::bit_cast<std::byte*>(result);
  commit(record, done, false, Doorbell::may_wait);
  return PostResult::posted;
}

PostResult VerbsEndpoint::fetch_add(std::uint64_t operand, std::uint64_t* result,
                                    RemoteAddress target, Completion& done) {
  return post_atomic(Opcode::fetch_add, Operation::fetch_add, operand, 0, result, target, done);
}

PostResult VerbsEndpoint::compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                           std::uint64_t* result, RemoteAddress target,
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
    if (must_read_back() && !send_->ledger.reads_outstanding()) static_cast<void>(seal(done));
    if (send_->ledger.reads_outstanding()) {
      static_cast<void>(ask_for_completions(done));
      return PostResult::no_credit;
    }
  }
  if (const auto admission = admit(done); admission != Admission::granted) [[unlikely]]
    return admission == Admission::failed ? PostResult::posted : PostResult::no_credit;
  WorkRecord& record = begin(Operation::signal, opcode, sizeof value, word);
  if (opcode == Opcode::write) {
    std::memcpy(record.local, &value, sizeof value);
  } else {
    record.operand = value;
  }
  record.locally_done = true;  // the old value of an atomic goes nowhere
  // Often the last thing a rank does to a peer: it completes without another request behind it,
  // for which the peer may not be there any more.
  commit(record, done, true, Doorbell::now);
  return PostResult::posted;
}

/// For a completion behind everything, or a sign of life: no bytes, to an address that is valid
/// all the same.
void VerbsEndpoint::post_empty_write(Operation operation, Completion& done) noexcept {
  WorkRecord& record = begin(operation, Opcode::write, 0,
                             {peer_.visibility_word_address, peer_.visibility_word_rkey});
  record.locally_done = true;
  commit(record, done, true, Doorbell::now);
}

/// Requires: ready.
PostResult VerbsEndpoint::ask_for_completions(Completion& done) noexcept {
  if (send_->ledger.signal_last()) {
    post_staged();
    return PostResult::posted;
  }
  if (!has_room()) return PostResult::no_credit;
  post_empty_write(Operation::flush, done);
  return PostResult::posted;
}

PostResult VerbsEndpoint::seal(Completion& done) {
  if (failure_) done.failed(*failure_);
  if (!is_ready()) return PostResult::posted;
  if (!must_read_back()) return ask_for_completions(done);
  if (!has_room()) return PostResult::no_credit;
  // The answer to a read travels behind the writes to memory before it, on every fabric.
  WorkRecord& record = begin(Operation::flush, Opcode::read, sizeof(std::uint64_t),
                             {peer_.visibility_word_address, peer_.visibility_word_rkey});
  commit(record, done, true, Doorbell::now);
  return PostResult::posted;
}

PostResult VerbsEndpoint::follow(Completion& done) {
  if (!is_ready() || !send_->ledger.borrows_memory()) return PostResult::posted;
  if (!has_room()) return PostResult::no_credit;
  post_empty_write(Operation::flush, done);
  return PostResult::posted;
}

void VerbsEndpoint::finish(const WorkRecord& record) noexcept {
  if (record.copy_to != nullptr && !failure_)
    copy_small(record.copy_to, record.local, record.length);
  if (record.bounce != nullptr) {
    if (record.opcode == Opcode::read && !failure_) scatter(record);
    services_.bounce.release(record.bounce);
  }
  if (failure_) record.done->failed(*failure_);
  if (!record.locally_done) record.done->locally_done();
  record.done->remotely_done();
}

std::uint32_t VerbsEndpoint::completed(std::uint32_t number) noexcept {
  // A number that is not in flight was left behind by a destroyed queue pair.
  if (send_ == nullptr || !send_->ledger.is_in_flight(number)) return 0;
  if (transport::Tally* const tally = send_->ledger.record(number).done->tally)
    tally->completions.add(1);
  const auto count =
      send_->ledger.retire_through(number, [this](const WorkRecord& record) { finish(record); });
  services_.cq.give_back(count);
  return count;
}

}  // namespace oriel::verbs
