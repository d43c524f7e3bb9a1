#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/mapped_parts.hpp>
#include <oriel/team.hpp>
#include <oriel/window_bytes.hpp>

#include "base/shared_segment.hpp"
#include "base/this_thread.hpp"
#include "sync/barrier.hpp"
#include "sync/exposure.hpp"
#include "sync/flush.hpp"
#include "sync/notification.hpp"
#include "sync/vigil.hpp"
#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/memory.hpp"
#include "window/accumulate.hpp"
#include "window/accumulate_locks.hpp"
#include "window/lock_epochs.hpp"
#include "window/own_completion.hpp"
#include "window/peer.hpp"
#include "window/region_table.hpp"
#include "window/request_pool.hpp"
#include "window/route.hpp"
#include "window/stripes.hpp"
#include "window/target.hpp"
#include "window/team_memory.hpp"
#include "window/team_state.hpp"
#include "window/traffic.hpp"
#include "window/window_record.hpp"

namespace oriel::window {

/// What the coherence domain of a window is, and why.
struct CoherenceChoice {
  CoherenceDomain domain = CoherenceDomain::cpu;
  std::string_view reason{};
};

/// Chosen alike by all ranks. Pure.
/// @param all_near  every path within the team is shared memory
/// @param scope  the weakest of all ranks' devices; ignored when all_near
[[nodiscard]] CoherenceChoice choose_coherence(bool all_near, transport::AtomicScope scope);

/// What a window is to be.
struct Creation {
  std::string_view operation;  ///< the call
  WindowKind kind = WindowKind::allocated;
  std::size_t bytes = 0;          ///< of this rank's part
  std::span<std::byte> memory{};  ///< of the program, for created windows
  WindowOptions options{};
};

/// One rank's side of a window. Members are called in the common turn (see Progress), but for those
/// that say otherwise.
class WindowState final : public MappedParts {
 public:
  /// Collective.
  WindowState(std::shared_ptr<TeamState> team, const Creation& creation);
  ~WindowState() override;

  // window_transfer.cpp, data_path.hpp. What a CPU can do at once needs no turn: false if it can
  // not. Else it goes by the route, in the turn of its way.
  [[nodiscard]] bool put_by_cpu(const std::byte* source, const Layout& from,
                                const TargetBytes& where, const Layout& to,
                                std::size_t element_bytes);
  [[nodiscard]] bool get_by_cpu(std::byte* destination, const Layout& to, const TargetBytes& where,
                                const Layout& from, std::size_t element_bytes);
  void put(const std::byte* source, std::size_t bytes, const TargetBytes& to, const Route& route);
  void get(std::byte* destination, std::size_t bytes, const TargetBytes& from, const Route& route);
  void put(const std::byte* source, const Layout& from, const TargetBytes& where, const Layout& to,
           std::size_t element_bytes, const Route& route);
  void get(std::byte* destination, const Layout& to, const TargetBytes& where, const Layout& from,
           std::size_t element_bytes, const Route& route);

  // window_atomics.cpp
  /// Needs no turn; false if it is not done in place.
  [[nodiscard]] bool accumulate_in_place(ElementType type, OpCode op, const void* operands,
                                         void* results, std::size_t count,
                                         const TargetBytes& where);
  void accumulate(ElementType type, OpCode op, const void* operands, void* results,
                  std::size_t count, const TargetBytes& where, const Route& route);
  void accumulate(const Accumulation& what, const TargetBytes& where, const Route& route);
  void compare_and_swap(const Swap& what, const TargetBytes& where, const Route& route);

  // Who counts an operation: these run `start(route)` in the turn of the route, which they take.
  // Errors: invalid_rank.
  /// Flush waits for it. By the way that the calling thread's puts and gets take …
  template <class Start>
  void transfer(const TargetBytes& where, Start&& start);
  /// The short way, of bytes that follow each other: post(endpoint, address, done) starts the first
  /// of them and returns how many. False: transfer() is for all behind those, and for errors.
  template <class Post>
  [[nodiscard]] bool transfer_at_once(Rank target, std::size_t offset, std::size_t bytes,
                                      std::size_t& taken, Post&& post);
  /// … or by the common one, as everything else goes.
  template <class Start>
  void operate(const TargetBytes& where, Start&& start);
  /// The same two, but waiting until it is locally complete.
  template <class Start>
  void transfer_now(const TargetBytes& where, Start&& start);
  template <class Start>
  void operate_now(const TargetBytes& where, Start&& start);
  /// For a request of its own.
  template <class Start>
  [[nodiscard]] Request request(const TargetBytes& where, Start&& start);
  /// Adds one to the target's notification slot behind it.
  template <class Start>
  void notified(const TargetBytes& where, std::size_t slot, Start&& start);

  // window_sync.cpp
  /// These four take the turns they need.
  void flush(Rank target);
  void flush_all();
  void flush_local(Rank target);
  void flush_local_all();
  void fence(FenceAssertion assertions);
  /// Completes and waits for all ranks; what is left to the destructor is to release. Errors: as
  /// fence().
  void close();

  // window_epochs.cpp. Epochs have numbers, for LockGuard; 0 is none. These two need no turn; there
  // may be no short way. The target is QuickLocks::kAllParts or a rank.
  [[nodiscard]] std::uint64_t lock_quickly(int target, LockMode mode);
  [[nodiscard]] bool unlock_quickly(int target, std::uint64_t epoch);
  [[nodiscard]] std::uint64_t lock(Rank target, LockMode mode, bool no_check);
  [[nodiscard]] std::uint64_t lock_all(bool no_check);
  void unlock(Rank target);
  void unlock_all();
  /// Of a guard: gives back what it holds, if it still does.
  void unlock(int target, std::uint64_t epoch);
  void post(std::span<const Rank> origins);
  void start(std::span<const Rank> targets);
  void complete();
  void wait();
  [[nodiscard]] bool test();
  [[nodiscard]] sync::Notifications& notifications() noexcept { return *notifications_; }

  // window_regions.cpp
  [[nodiscard]] std::size_t attach_region(std::span<std::byte> memory, std::size_t alignment);
  void detach_region(std::span<std::byte> memory);

  // These need no turn.
  /// The only owner, which may move: it says so, and the end of the runtime empties it.
  void owned_by(std::unique_ptr<MappedParts>& owner) noexcept { owner_ = &owner; }
  [[nodiscard]] std::unique_ptr<MappedParts>& owner() const noexcept { return *owner_; }
  [[nodiscard]] transport::Progress& progress() const noexcept {
    return *team_state_->job().progress;
  }
  [[nodiscard]] std::span<std::byte> local() const noexcept { return local_; }
  [[nodiscard]] std::span<std::byte> shared_span(Rank target) const;
  [[nodiscard]] std::size_t size_bytes(Rank target) const;
  [[nodiscard]] const Team& team() const noexcept { return team_; }
  [[nodiscard]] WindowKind kind() const noexcept { return kind_; }
  [[nodiscard]] const WindowOptions& options() const noexcept { return options_; }
  [[nodiscard]] CoherenceDomain coherence() const noexcept { return coherence_.domain; }
  [[nodiscard]] WindowCounters counters() const noexcept;
  /// Takes the turn.
  [[nodiscard]] std::string describe();

 private:
  // window_create.cpp
  [[nodiscard]] bool is_contiguous() const noexcept {
    return kind_ == WindowKind::shared && options_.contiguous;
  }
  [[nodiscard]] std::size_t region_table_offset() const noexcept;
  [[nodiscard]] std::size_t control_bytes() const noexcept;
  [[nodiscard]] std::size_t bytes_made_here(std::span<const std::uint64_t> parts) const;
  [[nodiscard]] WindowRecord expose(const Creation& creation, std::span<const std::uint64_t> parts);
  void check_alike(std::string_view operation, std::span<const WindowRecord> records) const;
  void attach(std::span<const WindowRecord> records);
  [[nodiscard]] Target reach_memory(std::size_t index, const MemoryRecord& theirs,
                                    TeamMemory& attached) const;
  Peer& reach(std::size_t index, const WindowRecord& record);
  void note_far(std::size_t index, const WindowRecord& record);
  [[nodiscard]] Peer& meet(std::size_t index);
  void place_parts(std::span<const WindowRecord> records);
  void show_mapped_parts(std::span<const WindowRecord> records);
  void make_protocols();
  void leave() noexcept;
  void abandon() noexcept;

  // window_transfer.cpp, window_regions.cpp
  [[nodiscard]] std::size_t checked_index(std::string_view operation, Rank target) const {
    const auto index = static_cast<std::size_t>(static_cast<int>(target));
    if (index >= peers_.size()) [[unlikely]]  // a negative rank became huge
      throw_invalid_rank(operation, target);
    return index;
  }
  /// A member, in the common turn. The way to it is made when it is first asked for.
  [[nodiscard]] Peer& peer(std::size_t index) {
    Peer* const known = peers_.find(index);
    return known != nullptr ? *known : meet(index);
  }
  [[noreturn, gnu::cold]] void throw_invalid_rank(std::string_view operation, Rank target) const;
  [[noreturn]] void throw_out_of_range(const TargetBytes& where, std::size_t bytes) const;
  void check_range(const TargetBytes& where, std::size_t bytes, const Target& part) const {
    if (where.offset > part.bytes || bytes > part.bytes - where.offset) [[unlikely]]
      throw_out_of_range(where, bytes);
  }
  void check_counts(const TargetBytes& where, std::size_t origin, std::size_t target) const;
  [[nodiscard]] DataPlace locate(const TargetBytes& where, std::size_t bytes, const Route& route);
  [[nodiscard]] Spot locate_region(const TargetBytes& where, std::size_t bytes, Peer& peer);

  // window_atomics.cpp, window_sync.cpp, window_epochs.cpp
  void check_atomics(std::string_view operation) const;
  [[nodiscard]] AccumulatePromises promises() const noexcept {
    return {.single_element = options_.single_element,
            .no_concurrent = options_.no_concurrent_accumulate};
  }
  [[nodiscard]] static bool add_word(const void* operand, void* result, const TargetBytes& where,
                                     const Route& route);
  template <class Use>
  void at_target(const TargetBytes& where, std::size_t bytes, Peer& peer, Use&& use);
  void accumulate(AccumulateRequest request, const TargetBytes& where, std::size_t bytes,
                  const Route& route);
  [[nodiscard]] Route common_route(Peer& peer, transport::Completion& done) noexcept {
    return {common_, peer, *peer.target.data, done};
  }
  /// The way of the calling thread's puts and gets to a member, which has been met if it is a lane.
  [[nodiscard]] Traffic& way_to(std::size_t index) {
    return goes_the_common_way() ? common_ : lane_to(index);
  }
  [[nodiscard]] bool goes_the_common_way() const noexcept {
    return base::this_thread() == home_ || has_no_lane();
  }
  [[nodiscard, gnu::noinline]] bool has_no_lane() const noexcept {
    return lanes_ == nullptr || lanes_->is_home();
  }
  [[nodiscard]] Traffic& lane_to(std::size_t index);
  [[nodiscard]] transport::Endpoint& endpoint_of(Traffic& way, std::size_t index,
                                                 Pending& pending) {
    if (pending.endpoint == nullptr) [[unlikely]]
      way.meet(pending, &way.lane()->endpoint(team_state_->members()[index]));
    return *pending.endpoint;
  }
  [[nodiscard]] bool is_any_lane_touched() const noexcept;
  static void flush_peer(Traffic& way, Peer& peer);
  static void flush_local_peer(Traffic& way, Peer& peer, transport::Completion& done);
  template <class Flush>
  void in_ways_to(Peer& peer, Flush&& flush);
  template <class Flush>
  void in_lanes_to(Peer& peer, Flush&& flush);
  template <class Flush>
  void in_touched(Flush&& flush);
  void flush_lanes(Peer& peer);
  void flush_all_in_turn();
  void take_memory_back() noexcept;
  template <class Complete>
  void complete_with_all(std::string_view operation, Complete&& complete);
  void end_epochs();

  std::shared_ptr<TeamState> team_state_;
  Team team_;
  std::unique_ptr<MappedParts>* owner_ = nullptr;
  std::uint64_t number_;
  WindowKind kind_;
  WindowOptions options_;
  int exceptions_at_start_;
  bool closed_ = false;
  bool atomics_refused_ = false;
  CoherenceChoice coherence_;

  // In the order of their making; released in reverse: peers' views and exposures, then memory.
  std::unique_ptr<base::SharedSegment> segment_;  // [part, if made here][control area], in pages
  std::span<std::byte> local_;
  std::span<std::byte> control_;  // ControlWords, notification slots, RegionTable if dynamic
  TeamMemory memory_;
  // What of a far member's memory is kept until it is met: by team rank, empty if nobody is far.
  std::vector<transport::RemoteAddress> far_segments_;
  std::vector<transport::RemoteAddress> far_parts_;  // of a created window
  PeerTable peers_;
  std::vector<sync::ControlWords*> mapped_controls_;  // of all, if accumulates are in place
  const transport::Lanes* lanes_ = nullptr;           // null: everything goes the common way
  const void* home_ = base::this_thread();            // takes the common way in any case
  Traffic common_;
  std::deque<Traffic> by_lanes_;  // by their numbers

  // Released first: they see off what they have sent.
  std::unique_ptr<sync::Barrier> barrier_;
  std::unique_ptr<sync::Vigil> vigil_;
  std::unique_ptr<LockEpochs> locks_;
  std::unique_ptr<sync::Exposure> exposure_;
  std::unique_ptr<sync::Notifications> notifications_;
  std::unique_ptr<AccumulateLocks> accumulate_locks_;
  std::optional<Stripes> stripes_;  // if accumulates are in place
  std::unique_ptr<Accumulator> accumulator_;
  std::unique_ptr<RegionOwner> regions_;  // of a dynamic window
};

/// Lets go of a window in a turn of this thread's. Errors are logged.
void release(std::unique_ptr<MappedParts> window) noexcept;

/// Frees the windows that are alive, in the order of their creation: their owners are then as after
/// Window::free().
void release_all(const JobContext& job) noexcept;

template <class Start>
void WindowState::transfer(const TargetBytes& where, Start&& start) {
  const std::size_t index = checked_index(where.operation, where.rank);
  Traffic& way = way_to(index);
  const transport::Progress::Turn turn(way.turns());
  Peer& to = peer(index);
  transport::Endpoint& data = endpoint_of(way, index, way.pending(to));
  const Traffic::Operation operation(way, to);
  start(Route{way, to, data, operation.done()});
}

template <class Start>
void WindowState::operate(const TargetBytes& where, Start&& start) {
  const transport::Progress::Turn turn(progress());
  Peer& to = peer(checked_index(where.operation, where.rank));
  const Traffic::Operation operation(common_, to);
  start(common_route(to, operation.done()));
}

template <class Start>
void WindowState::transfer_now(const TargetBytes& where, Start&& start) {
  const std::size_t index = checked_index(where.operation, where.rank);
  Traffic& way = way_to(index);
  const transport::Progress::Turn turn(way.turns());
  Peer& to = peer(index);
  transport::Endpoint& data = endpoint_of(way, index, way.pending(to));
  OwnCompletion done(way.turns(), &way.tally());
  start(Route{way, to, data, *done});
  sync::flush_local(way.turns(), data, *done);
}

template <class Start>
void WindowState::operate_now(const TargetBytes& where, Start&& start) {
  const transport::Progress::Turn turn(progress());
  Peer& to = peer(checked_index(where.operation, where.rank));
  OwnCompletion done(progress(), &common_.tally());
  start(common_route(to, *done));
  flush_local_peer(common_, to, *done);
}

template <class Start>
Request WindowState::request(const TargetBytes& where, Start&& start) {
  const transport::Progress::Turn turn(progress());
  Peer& to = peer(checked_index(where.operation, where.rank));
  const Traffic::Operation operation(common_, to);
  RequestState& state =
      team_state_->job().requests->acquire(operation.done(), *to.target.data, *to.target.atomics);
  try {
    start(common_route(to, state.done));
  } catch (...) {
    state.pool->release(state);
    throw;
  }
  return Request(&state);
}

template <class Start>
void WindowState::notified(const TargetBytes& where, std::size_t slot, Start&& start) {
  notifications_->check_range(where.operation, slot, 1);
  check_atomics(where.operation);
  const transport::Progress::Turn turn(progress());
  Peer& to = peer(checked_index(where.operation, where.rank));
  const Traffic::Operation operation(common_, to);
  const sync::Partner& target = to.control_by_atomics;
  const transport::Corked corked(*target.endpoint);
  start(common_route(to, operation.done()));
  if (to.target.data != target.endpoint) flush_peer(common_, to);  // on one way they keep order
  notifications_->notify(where.operation, target, slot, operation.done());
}

inline std::uint64_t WindowState::lock_quickly(int target, LockMode mode) {
  const bool known = target == QuickLocks::kAllParts ||
                     (target >= 0 && static_cast<std::size_t>(target) < parts_.size());
  return known ? locks_->quick().lock(target, mode == LockMode::exclusive) : 0;
}

// What was done under the lock was done in place: the atomic that gives it back comes behind it.
inline bool WindowState::unlock_quickly(int target, std::uint64_t epoch) {
  return locks_->quick().unlock(target, epoch);
}

}  // namespace oriel::window

namespace oriel {

/// The calls of WindowBytes begin with it.
inline window::WindowState& WindowBytes::checked(std::string_view operation) const {
  if (!state_) [[unlikely]]
    throw_freed(operation);
  return static_cast<window::WindowState&>(*state_);
}

}  // namespace oriel
