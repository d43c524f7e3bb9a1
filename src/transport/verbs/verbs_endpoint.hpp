#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/error.hpp>

#include "transport/endpoint.hpp"
#include "transport/peer_health.hpp"
#include "transport/verbs/bounce_pool.hpp"
#include "transport/verbs/completion_queue.hpp"
#include "transport/verbs/connection_origin.hpp"
#include "transport/verbs/peer_address.hpp"
#include "transport/verbs/registered_memory.hpp"
#include "transport/verbs/registered_ranges.hpp"
#include "transport/verbs/send_ledger.hpp"

namespace oriel::verbs {

class VerbsEndpoint;

/// Up to this many bytes an operation needs no registered user memory and no bounce slot: they lie
/// in a place that goes with the work request. Sent inline as far as the device can.
inline constexpr std::uint32_t kSmallBytes = 128;
/// Operations behind others share a doorbell, those of up to a page, so that the device is never
/// kept from much: the small ones behind any, the others behind as many as make a batch.
inline constexpr std::uint32_t kDoorbellBatch = 32;
inline constexpr std::uint32_t kMostBatchedBytes = 4096;
static_assert(kDoorbellBatch < kSignalEvery);

/// The lengths that are the most common cost no call.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// What the endpoints of a lane share, and belongs to it.
struct EndpointServices {
  OriginSettings origin{};
  CompletionQueue& cq;
  RangesView& ranges;
  BouncePool& bounce;
  CmChannel& channel;
  transport::PeerHealth& health;
  std::vector<VerbsEndpoint*>& staged;  ///< who has staged records; with room for every endpoint
  const std::vector<std::unique_ptr<VerbsEndpoint>>& endpoints;  ///< by rank
  std::string device_text{};                                     ///< "rxe0 port 1 gid 1 mtu 4096"
  std::uint32_t max_message_bytes = 0;
  bool read_after_writes = false;  ///< a flush ends with a read behind the writes
};

/// One peer by way of RDMA: a reliable connection whose requests all come from this side.
///
///     unconnected ─ first operation or probe ─> connecting ──> ready ──> broken | dead
///                                                   └───────────────────────^
///
/// Broken: the device reported a failed operation. Dead: the peer does not answer. Both are final
/// here: the queue pair is destroyed (from then on the device touches no memory of its work
/// requests), everything outstanding is finished as failed, and what comes later fails at once.
/// Records keep all that is needed to post them again, so that a rebuilt connection can replay
/// them.
///
/// Memory of a work request, from append() until it is retired:
///   small (<= kSmallBytes)  its place in `payloads`; the user's memory is free (put) or filled
///                           (get) by a copy
///   registered user memory  the user's own, which therefore stays in use until the completion
///   bounce slot             acquired for the request, released when it is retired
class VerbsEndpoint final : public transport::Endpoint {
 public:
  VerbsEndpoint(EndpointServices& services, int rank, std::string host, const PeerAddress& peer);

  [[nodiscard]] std::size_t put(const std::byte* source, std::size_t bytes,
                                transport::RemoteAddress target,
                                transport::Completion& done) override;
  [[nodiscard]] std::size_t get(std::byte* destination, std::size_t bytes,
                                transport::RemoteAddress target,
                                transport::Completion& done) override;
  [[nodiscard]] std::size_t put_runs(std::span<const transport::Run> runs,
                                     transport::RemoteAddress target,
                                     transport::Completion& done) override;
  [[nodiscard]] std::size_t get_runs(std::span<const transport::Run> runs,
                                     transport::RemoteAddress target,
                                     transport::Completion& done) override;
  [[nodiscard]] transport::PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                                transport::RemoteAddress target,
                                                transport::Completion& done) override;
  [[nodiscard]] transport::PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                                       std::uint64_t* result,
                                                       transport::RemoteAddress target,
                                                       transport::Completion& done) override;
  [[nodiscard]] transport::PostResult signal(std::uint64_t value, transport::RemoteAddress word,
                                             transport::Completion& done) override;
  [[nodiscard]] transport::PostResult add(std::uint64_t operand, transport::RemoteAddress word,
                                          transport::Completion& done) override;
  void cork() noexcept override {
    is_corked_ = true;
    uncorked_ = nullptr;
  }
  void uncork() noexcept override {
    is_corked_ = false;
    uncorked_ = ready_;
    post_staged();
  }
  [[nodiscard, gnu::noinline]] transport::PostResult seal(transport::Completion& done) override;
  [[nodiscard]] transport::PostResult seal_and_look(transport::Completion& done) override;
  [[nodiscard]] transport::PostResult follow(transport::Completion& done) override;
  void probe() noexcept override;
  [[nodiscard]] const Error* failure() const noexcept override {
    return failure_ ? &*failure_ : nullptr;
  }
  [[nodiscard]] std::string describe() const override;

  // For the transport:

  /// Rings the doorbell for what was recorded since the last time; the transport has taken the
  /// endpoint off its list.
  void post_listed() noexcept {
    is_listed_ = false;
    post_staged();
  }
  /// What the poller found for record `number`; returns how many operations that finished.
  std::uint32_t completed(std::uint32_t number) noexcept;
  std::uint32_t completed_in_error(std::uint32_t number, const ibv_wc& wc) noexcept;
  /// A verbs call on the way of every operation failed ("posting a work request").
  void device_failed(std::string_view call, int error) noexcept;
  /// Before the end: asks for the completion of all that is outstanding, or gives it up if the
  /// peer has left already. To be repeated while something is outstanding.
  void finish_up() noexcept;

 private:
  enum class State : std::uint8_t { unconnected, connecting, ready, broken, dead };
  /// When the device is told: at once, behind enough others with them, or behind any.
  enum class Doorbell : std::uint8_t { now, behind_many, may_wait };
  /// Of a request with memory of its own.
  [[nodiscard]] static Doorbell doorbell_for(const WorkRecord& record) noexcept {
    const bool is_long = record.length > kMostBatchedBytes || record.holds_slot();
    return is_long ? Doorbell::now : Doorbell::behind_many;
  }

  /// In order of construction; the connection, with its queue pair, goes before the payloads, so
  /// that the device has let go of them then. What a lone operation looks at lies side by side.
  struct SendSide {
    SendSide(EndpointServices& services, int rank, const PeerAddress& peer)
        : payloads(services.origin.pd, std::size_t{kQueueDepth} * kSmallBytes, Access::local,
                   "connect"),
          lkey(payloads.lkey()),
          connection(std::in_place, services.channel, services.origin, rank, peer),
          ledger(services.origin.depth) {}
    RegisteredBlock payloads;
    std::uint32_t lkey;  ///< of the payloads
    std::optional<ConnectionOrigin> connection;
    SendLedger ledger;
  };

  [[nodiscard]] bool is_ready() const noexcept { return ready_ != nullptr; }
  /// Requires: ready, as the next one.
  [[nodiscard]] bool has_room() const noexcept {
    return ready_->ledger.has_room() && cq_.has_credit();
  }
  [[nodiscard]] bool must_read_back() const noexcept {
    return services_.read_after_writes && ready_->ledger.has_unread_writes();
  }

  // verbs_endpoint_datapath.cpp, verbs_endpoint_runs.cpp
  /// Whether one more operation may be recorded; else see once_admitted().
  [[nodiscard]] bool may_record() const noexcept {
    if (!is_ready()) [[unlikely]]
      return false;
    return has_room();
  }
  /// Whether there is nothing before one more operation, nor to come behind: it is recorded and
  /// posted in one. Implies may_record().
  [[nodiscard]] bool may_go_alone() const noexcept {
    return uncorked_ != nullptr && uncorked_->ledger.outstanding() == 0 && cq_.has_credit();
  }
  template <class Result, class Post>
  [[nodiscard, gnu::noinline]] Result once_admitted(transport::Completion& done, Result taken,
                                                    Result no_room, const Post& post) noexcept;
  /// There is no room: 0, for who returns how much was taken.
  static std::size_t note_retry(const transport::Completion& done) noexcept {
    if (done.tally != nullptr) done.tally->retries.add(1);
    return 0;
  }
  /// Rings the doorbell for what is staged.
  void post_staged() noexcept {
    if (is_ready() && ready_->ledger.staged() != 0) post_all_staged();
  }
  [[gnu::noinline]] void post_all_staged() noexcept;
  [[gnu::noinline]] void post_failed(int error) noexcept;
  static void fill(WorkRecord& record, const SendSide& send, std::uint32_t place,
                   Operation operation, Opcode opcode, std::uint32_t length,
                   transport::RemoteAddress target, Holding holding, bool signalled) noexcept;
  [[nodiscard]] WorkRecord& begin(Operation operation, Opcode opcode, std::uint32_t length,
                                  transport::RemoteAddress target, Holding holding) noexcept;
  [[nodiscard]] static WorkRecord& begin_alone(SendSide& send, Operation operation, Opcode opcode,
                                               std::uint32_t length,
                                               transport::RemoteAddress target,
                                               Holding holding) noexcept;
  [[nodiscard]] bool take_slot(WorkRecord& record, Holding holding) noexcept;
  void commit(WorkRecord& record, transport::Completion& done, bool wants_completion,
              Doorbell doorbell) noexcept;
  void post_alone(SendSide& send, WorkRecord& record, Opcode opcode, std::uint32_t length,
                  Holding holding, transport::Completion& done) noexcept;
  static void count_bytes(transport::Tally& tally, std::uint32_t length, bool is_inline,
                          bool holds_slot) noexcept;
  void commit_known(WorkRecord& record, Opcode opcode, std::uint32_t length, Holding holding,
                    bool wants_completion, Doorbell doorbell) noexcept;
  [[nodiscard, gnu::noinline]] std::size_t get_large(std::byte* destination, std::size_t bytes,
                                                     transport::RemoteAddress target,
                                                     transport::Completion& done) noexcept;
  [[nodiscard, gnu::noinline]] std::size_t put_among(const std::byte* source, std::size_t bytes,
                                                     transport::RemoteAddress target,
                                                     transport::Completion& done) noexcept;
  [[nodiscard, gnu::noinline]] std::size_t get_among(std::byte* destination, std::size_t bytes,
                                                     transport::RemoteAddress target,
                                                     transport::Completion& done) noexcept;
  [[nodiscard, gnu::noinline]] std::size_t put_large(const std::byte* source, std::size_t bytes,
                                                     transport::RemoteAddress target,
                                                     transport::Completion& done) noexcept;
  [[nodiscard]] transport::PostResult post_atomic(Opcode opcode, Operation operation,
                                                  std::uint64_t operand, std::uint64_t swap,
                                                  std::uint64_t* result,
                                                  transport::RemoteAddress target,
                                                  transport::Completion& done) noexcept;
  [[nodiscard]] std::size_t put_gathered(std::span<const transport::Run> runs, std::size_t bytes,
                                         transport::RemoteAddress target,
                                         transport::Completion& done) noexcept;
  [[nodiscard]] std::size_t get_scattered(std::span<const transport::Run> runs, std::size_t bytes,
                                          transport::RemoteAddress target,
                                          transport::Completion& done) noexcept;
  [[nodiscard]] transport::PostResult post_message(Opcode opcode, std::uint64_t value,
                                                   transport::RemoteAddress word,
                                                   transport::Completion& done) noexcept;
  [[nodiscard]] transport::PostResult ask_for_completions(transport::Completion& done) noexcept;
  void post_empty_write(Operation operation, transport::Completion& done) noexcept;
  void finish(const WorkRecord& record) noexcept;
  void abandon(const WorkRecord& record) noexcept;
  [[gnu::noinline]] static void scatter(const WorkRecord& record) noexcept;

  // verbs_endpoint.cpp
  void start_connecting() noexcept;
  void settle_connection() noexcept;
  void connect() noexcept;
  std::uint32_t fail(State state, ErrorCode code, ErrorDetails details) noexcept;

  SendSide* ready_ = nullptr;     ///< send_, while operations may be posted: connected, not failed
  SendSide* uncorked_ = nullptr;  ///< ready_, unless corked
  CompletionQueue& cq_;
  EndpointServices& services_;
  int rank_;
  std::string host_;
  PeerAddress peer_;
  State state_ = State::unconnected;
  bool is_listed_ = false;  ///< in services_.staged
  bool is_corked_ = false;  ///< more is about to be posted
  std::optional<Error> failure_;
  transport::Completion own_done_;  ///< of probes, and of requests nobody else waits for
  std::unique_ptr<SendSide> send_;  ///< from the first operation until failure
};

/// Where may_record() does not hold: connects, if need be, and runs post() after all. On a failed
/// endpoint the operation is started and failed here, so that nobody waits for it.
template <class Result, class Post>
Result VerbsEndpoint::once_admitted(transport::Completion& done, Result taken, Result no_room,
                                    const Post& post) noexcept {
  if (!is_ready()) connect();
  if (!is_ready()) {
    done.failed(*failure_);
    return taken;
  }
  if (has_room()) return post();
  note_retry(done);
  return no_room;
}

/// Begins a record, of the ring's place `place`, with the memory for small bytes that goes with it.
inline void VerbsEndpoint::fill(WorkRecord& record, const SendSide& send, std::uint32_t place,
                                Operation operation, Opcode opcode, std::uint32_t length,
                                transport::RemoteAddress target, Holding holding,
                                bool signalled) noexcept {
  record.operation = operation;
  record.opcode = opcode;
  record.signalled = signalled;
  record.holding = holding;
  record.length = length;
  record.lkey = send.lkey;
  record.rkey = static_cast<std::uint32_t>(target.key);
  record.remote_address = target.address;
  record.local = send.payloads.data() + std::size_t{place} * kSmallBytes;
  if (opcode != Opcode::write) record.copy_to = nullptr;
  // What is left is set where it is used.
}

/// The next record, begun; commit() takes it in. Requires: may_record().
inline WorkRecord& VerbsEndpoint::begin(Operation operation, Opcode opcode, std::uint32_t length,
                                        transport::RemoteAddress target, Holding holding) noexcept {
  SendSide& send = *ready_;
  WorkRecord& record = send.ledger.next_record();
  fill(record, send, SendLedger::place(send.ledger.next()), operation, opcode, length, target,
       holding, false);
  return record;
}
/// The same of what goes alone; post_alone() takes it in.
inline WorkRecord& VerbsEndpoint::begin_alone(SendSide& send, Operation operation, Opcode opcode,
                                              std::uint32_t length, transport::RemoteAddress target,
                                              Holding holding) noexcept {
  WorkRecord& record = send.ledger.first_record();
  fill(record, send, 0, operation, opcode, length, target, holding, true);
  return record;
}

/// The bytes are in a bounce slot instead, from now until the record is retired. False: all are in
/// use.
inline bool VerbsEndpoint::take_slot(WorkRecord& record, Holding holding) noexcept {
  std::byte* const slot = services_.bounce.acquire();
  if (slot == nullptr) return false;
  record.holding = holding;
  record.local = slot;
  record.lkey = services_.bounce.lkey();
  return true;
}

/// Takes in and posts the record that was begun for what goes alone. @param send  uncorked_
/// @param opcode, length, holding  the record's, as the caller knows them: so they need not be read
/// again
inline void VerbsEndpoint::post_alone(SendSide& send, WorkRecord& record, Opcode opcode,
                                      std::uint32_t length, Holding holding,
                                      transport::Completion& done) noexcept {
  record.done = &done;
  const std::uint32_t number = send.ledger.append_first(record, opcode);
  done.started(!holds(holding, Holding::memory));
  cq_.take_credit();
  const WorkRequestPoster& poster = send.connection->poster();
  const bool is_inline = poster.fits_inline(opcode, length);
  if (transport::Tally* const tally = done.tally) {
    tally->lone_requests.add(1);
    count_bytes(*tally, length, is_inline, holds(holding, Holding::slot));
  }
  if (const int error = poster.post_alone(record, opcode, number, is_inline); error != 0)
      [[unlikely]]
    post_failed(error);
}

/// Takes in the record that was begun, to share a doorbell with others. What may wait never does
/// beyond the next progress(), seal() or signal(); nor, unless corked, when the device has
/// nothing, or too little, to do.
/// @param opcode, length, holding  as for post_alone()
inline void VerbsEndpoint::commit_known(WorkRecord& record, Opcode opcode, std::uint32_t length,
                                        Holding holding, bool wants_completion,
                                        Doorbell doorbell) noexcept {
  SendSide& send = *ready_;
  SendLedger& ledger = send.ledger;
  transport::Completion& done = *record.done;
  done.started(!holds(holding, Holding::memory));
  if (transport::Tally* const tally = done.tally) {
    const bool is_inline = send.connection->poster().fits_inline(opcode, length);
    tally->work_requests.add(1);
    count_bytes(*tally, length, is_inline, holds(holding, Holding::slot));
  }
  ledger.append(record, opcode, length, wants_completion || cq_.is_half_used());
  cq_.take_credit();
  const bool now =
      !is_corked_ && (doorbell == Doorbell::now || ledger.in_flight() == 0 ||
                      (doorbell == Doorbell::behind_many && ledger.in_flight() < kDoorbellBatch));
  if (now || ledger.staged() >= kDoorbellBatch) return post_all_staged();
  if (is_listed_) [[likely]]
    return;
  is_listed_ = true;
  services_.staged.push_back(this);  // never allocates: there is room for every endpoint
}

inline void VerbsEndpoint::count_bytes(transport::Tally& tally, std::uint32_t length,
                                       bool is_inline, bool holds_slot) noexcept {
  if (is_inline) tally.inline_bytes.add(length);
  if (holds_slot) tally.bounce_bytes.add(length);
}

}  // namespace oriel::verbs
