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
#include "window/region_table.hpp"
#include "window/request_pool.hpp"
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
  std::string reason{};
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

/// Where an operation goes: a way to memory, and a place behind its base. A copy: while the
/// operation waits for room, another thread may learn of other regions.
struct Spot {
  Target target{};
  std::size_t offset = 0;
};

/// One rank's side of a window. Members are called in the common turn (see Progress), but for those
/// that say otherwise.
class WindowState final : public MappedParts {
 public:
  /// Collective.
  WindowState(std::shared_ptr<TeamState> team, const Creation& creation);
  ~WindowState() override;

  // window_transfer.cpp. What a CPU can do at once needs no turn: false if it can not. Else it goes
  // by `way`, in its turn, and `done` counts the operation.
  [[nodiscard]] bool put_by_cpu(const std::byte* source, std::size_t bytes, const TargetBytes& to);
  [[nodiscard]] bool get_by_cpu(std::byte* destination, std::size_t bytes, const TargetBytes& from);
  [[nodiscard]] bool put_by_cpu(const std::byte* source, const Layout& from,
                                const TargetBytes& where, const Layout& to,
                                std::size_t element_bytes);
  [[nodiscard]] bool get_by_cpu(std::byte* destination, const Layout& to, const TargetBytes& where,
                                const Layout& from, std::size_t element_bytes);
  void put(const std::byte* source, std::size_t bytes, const TargetBytes& to, Traffic& way,
           transport::Completion& done);
  void get(std::byte* destination, std::size_t bytes, const TargetBytes& from, Traffic& way,
           transport::Completion& done);
  void put(const std::byte* source, const Layout& from, const TargetBytes& where, const Layout& to,
           std::size_t element_bytes, Traffic& way, transport::Completion& done);
  void get(std::byte* destination, const Layout& to, const TargetBytes& where, const Layout& from,
           std::size_t element_bytes, Traffic& way, transport::Completion& done);

  // window_atomics.cpp
  /// Needs no turn; false if it is not done in place.
  [[nodiscard]] bool accumulate_in_place(ElementType type, OpCode op, const void* operands,
                                         void* results, std::size_t count,
                                         const TargetBytes& where);
  void accumulate(const Accumulation& what, const TargetBytes& where, transport::Completion& done);
  void compare_and_swap(const Swap& what, const TargetBytes& where, transport::Completion& done);

  // window_sync.cpp
  /// What everything but puts and gets goes by; these, too, where they belong to something that
  /// does.
  [[nodiscard]] Traffic& common() noexcept { return traffic_.back(); }
  /// The count of operations on a target that flush waits for. Errors: invalid_rank.
  [[nodiscard]] transport::Completion& pending(const TargetBytes& where);
  /// Runs `start(way, done)` in the turn of the way that the calling thread's puts and gets take;
  /// flush waits for it. Takes that turn. Errors: invalid_rank.
  template <class Start>
  void transfer(const TargetBytes& where, Start&& start);
  /// The same, and waits until it is locally complete.
  template <class Start>
  void transfer_now(const TargetBytes& where, Start&& start);
  /// Runs `start(done)` and waits until it is locally complete.
  template <class Start>
  void now(const TargetBytes& where, Start&& start);
  /// Runs `start(done)` for a request of its own; takes the turn.
  template <class Start>
  [[nodiscard]] Request request(const TargetBytes& where, Start&& start);
  /// Runs `start(done)`, and adds one to the target's notification slot behind it.
  template <class Start>
  void notified(const TargetBytes& where, std::size_t slot, Start&& start);
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
  [[nodiscard]] std::string describe() const;

 private:
  /// The control areas of a rank: by the way that data takes, and by that of atomics.
  struct Controls {
    sync::Partner data{};
    sync::Partner atomics{};
  };

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
  void attach_rank(std::size_t index, const WindowRecord& record);
  void place_parts(std::span<const WindowRecord> records);
  void show_mapped_parts();
  void make_protocols();
  void leave() noexcept;
  void abandon() noexcept;

  // window_transfer.cpp, window_regions.cpp
  [[nodiscard]] const Target& part_of(const TargetBytes& where, std::size_t bytes) const;
  [[nodiscard]] Spot locate(const TargetBytes& where, std::size_t bytes);
  [[nodiscard]] Spot locate_region(const TargetBytes& where, std::size_t index, std::size_t bytes);
  [[nodiscard]] std::size_t checked_index(std::string_view operation, Rank target) const;
  [[noreturn]] void throw_out_of_range(const TargetBytes& where, std::size_t bytes) const;
  void check_counts(const TargetBytes& where, std::size_t origin, std::size_t target) const;
  [[nodiscard]] Spot locate(const TargetBytes& where, std::size_t bytes, Traffic& way);
  static void start_put(const Target& to, std::size_t offset, const std::byte* source,
                        std::size_t bytes, Traffic& way, transport::Completion& done);
  static void start_get(const Target& from, std::size_t offset, std::byte* destination,
                        std::size_t bytes, Traffic& way, transport::Completion& done);

  // window_atomics.cpp, window_sync.cpp, window_epochs.cpp
  void check_atomics(std::string_view operation) const;
  [[nodiscard]] RequestState& new_request(const TargetBytes& where);
  [[nodiscard]] Traffic& way_to(const TargetBytes& where);
  [[nodiscard]] transport::Endpoint& data_endpoint(std::size_t index, Traffic& way);
  [[nodiscard]] bool is_any_touched(std::size_t ways) const noexcept;
  void flush_index(Traffic& way, std::size_t index);
  void flush_local_index(Traffic& way, std::size_t index, transport::Completion& done);
  void flush_in(std::size_t ways, std::size_t index);
  template <class Flush>
  void in_touched(std::size_t ways, Flush&& flush);
  void flush_lanes(std::size_t index);
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
  std::unique_ptr<base::SharedSegment>
      segment_;  // [the part, if it is made here][control area], whole pages
  std::span<std::byte> local_;
  std::span<std::byte> control_;  // ControlWords, notification slots, RegionTable if dynamic
  TeamMemory memory_;
  std::vector<Target> targets_;  // by team rank, as all of these
  std::vector<Controls> controls_;
  std::vector<sync::ControlWords*> mapped_controls_;  // of all, if accumulates are in place
  std::deque<Traffic> traffic_;  // by the lanes' numbers; the last is the common way's

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
  std::vector<RegionDirectory> directories_;
};

/// Lets go of a window in a turn of this thread's. Errors are logged.
void release(std::unique_ptr<MappedParts> window) noexcept;

/// Frees the windows that are alive, in the order of their creation: their owners are then as after
/// Window::free().
void release_all(const JobContext& job) noexcept;

template <class Start>
void WindowState::transfer(const TargetBytes& where, Start&& start) {
  Traffic& way = way_to(where);
  const transport::Progress::Turn turn(way.turns());
  start(way, way.pending(checked_index(where.operation, where.rank), targets_.size()));
}

template <class Start>
void WindowState::transfer_now(const TargetBytes& where, Start&& start) {
  Traffic& way = way_to(where);
  const transport::Progress::Turn turn(way.turns());
  OwnCompletion done(way.turns());
  start(way, *done);
  const std::size_t index = checked_index(where.operation, where.rank);
  sync::flush_local(way.turns(), data_endpoint(index, way), *done);
}

template <class Start>
void WindowState::now(const TargetBytes& where, Start&& start) {
  OwnCompletion done(progress());
  start(*done);
  flush_local_index(common(), checked_index(where.operation, where.rank), *done);
}

template <class Start>
Request WindowState::request(const TargetBytes& where, Start&& start) {
  const transport::Progress::Turn turn(progress());
  RequestState& state = new_request(where);
  try {
    start(state.done);
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
  transport::Completion& done = pending(where);
  const auto index = static_cast<std::size_t>(static_cast<int>(where.rank));
  const sync::Partner& target = controls_[index].atomics;
  const transport::Corked corked(*target.endpoint);
  start(done);
  // On one way they keep their order.
  if (targets_[index].data != target.endpoint) flush_index(common(), index);
  notifications_->notify(where.operation, target, slot, done);
}

inline std::uint64_t WindowState::lock_quickly(int target, LockMode mode) {
  const bool known = target == QuickLocks::kAllParts ||
                     (target >= 0 && static_cast<std::size_t>(target) < targets_.size());
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
