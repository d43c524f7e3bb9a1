#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/team.hpp>
#include <oriel/window_bytes.hpp>

#include "base/shared_segment.hpp"
#include "sync/barrier.hpp"
#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/memory.hpp"
#include "window/team_state.hpp"

namespace oriel::window {

/// The way to one target's part, all that an operation looks at. 64 bytes: one cache line per peer.
struct Target {
  std::byte* mapped = nullptr;  ///< the part, if plain loads and stores reach it
  std::uint64_t bytes = 0;      ///< its size
  transport::Endpoint* data = nullptr;
  transport::RemoteAddress data_base{};
  transport::Endpoint* atomics = nullptr;  ///< not `data` where the coherence domain says so
  transport::RemoteAddress atomics_base{};

  [[nodiscard]] bool by_cpu() const noexcept { return mapped != nullptr && atomics == data; }
};
static_assert(sizeof(Target) == 64);

/// What the coherence domain of a window is, and why.
struct CoherenceChoice {
  CoherenceDomain domain = CoherenceDomain::cpu;
  std::string reason{};
};

/// Chosen alike by all ranks. Pure.
/// @param all_near  every path within the team is shared memory
/// @param scope  the weakest of all ranks' devices; ignored when all_near
[[nodiscard]] CoherenceChoice choose_coherence(bool all_near, transport::AtomicScope scope);

/// The transports that lead from this rank to members of a team; null where none does.
struct TeamPaths {
  transport::Transport* shm = nullptr;
  transport::Transport* verbs = nullptr;
  /// The same on all ranks: who has a far peer is itself far from that peer.
  [[nodiscard]] bool all_near() const noexcept { return verbs == nullptr; }
};

/// What a rank tells the others when a window is created; travels as bytes.
struct WindowRecord {
  /// One piece of memory as each transport exposes it; length 0 where the transport is not used.
  struct Piece {
    transport::RegionDescriptor shm{};
    transport::RegionDescriptor verbs{};
  };
  std::uint64_t bytes = 0;  ///< size of the part
  bool is_allocated = true;
  Piece segment{};                   ///< [the part, if allocated][ControlWords]
  Piece own{};                       ///< the part, if it is the program's memory
  std::uint64_t control_offset = 0;  ///< of the ControlWords in the segment
  transport::AtomicScope scope{};    ///< of this rank's device
};

/// One rank's side of a window.
class WindowState {
 public:
  /// Collective: over `own` memory of the program [MPI_Win_create], or over `bytes` to be allocated
  /// [MPI_Win_allocate].
  WindowState(std::shared_ptr<TeamState> team, std::string_view operation,
              std::optional<std::span<std::byte>> own, std::size_t bytes);
  ~WindowState();
  WindowState(const WindowState&) = delete;
  WindowState& operator=(const WindowState&) = delete;

  void put(const std::byte* source, std::size_t bytes, Rank target, std::size_t offset);
  void get(std::byte* destination, std::size_t bytes, Rank target, std::size_t offset);
  void get_now(std::byte* destination, std::size_t bytes, Rank target, std::size_t offset);
  void fetch_add(std::uint64_t operand, std::uint64_t& result, Rank target, std::size_t offset);
  void compare_and_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t& result,
                        Rank target, std::size_t offset);
  [[nodiscard]] std::uint64_t fetch_add_now(std::uint64_t operand, Rank target, std::size_t offset);
  [[nodiscard]] std::uint64_t compare_and_swap_now(std::uint64_t compare, std::uint64_t swap,
                                                   Rank target, std::size_t offset);

  void flush(Rank target);
  void flush_all();
  void flush_local(Rank target);
  void flush_local_all();
  void fence();
  /// Completes and waits for all ranks; what is left to the destructor is to release. Errors: as
  /// fence().
  void close();

  [[nodiscard]] std::span<std::byte> local() const noexcept { return local_; }
  [[nodiscard]] std::size_t size_bytes(Rank target) const;
  [[nodiscard]] const Team& team() const noexcept { return team_; }
  [[nodiscard]] CoherenceDomain coherence() const noexcept { return coherence_.domain; }
  [[nodiscard]] std::string describe() const;

 private:
  // window_create.cpp
  [[nodiscard]] WindowRecord expose(std::optional<std::span<std::byte>> own, std::size_t bytes);
  void attach(std::span<const WindowRecord> records);
  void attach_part(std::size_t index, const WindowRecord& record);
  [[nodiscard]] const transport::PeerMemory& attach_piece(int world_rank,
                                                          transport::Transport* transport,
                                                          const WindowRecord::Piece& piece);
  void make_barrier(std::span<const WindowRecord> records);
  void leave() noexcept;
  void abandon() noexcept;

  // window_transfer.cpp and window_atomics.cpp; `done` counts the operation
  [[nodiscard]] std::size_t checked_index(std::string_view operation, Rank target) const;
  [[nodiscard]] Target& checked_target(std::string_view operation, Rank target, std::size_t offset,
                                       std::size_t bytes);
  [[noreturn]] void throw_out_of_range(std::string_view operation, Rank target, std::size_t offset,
                                       std::size_t bytes) const;
  [[nodiscard]] Target& checked_word(std::string_view operation, Rank target, std::size_t offset);
  void start_put(Target& to, const std::byte* source, std::size_t bytes, std::size_t offset,
                 transport::Completion& done);
  void start_get(Target& from, std::byte* destination, std::size_t bytes, std::size_t offset,
                 transport::Completion& done);
  void start_fetch_add(Target& at, std::uint64_t operand, std::uint64_t& result, std::size_t offset,
                       transport::Completion& done);
  void start_compare_and_swap(Target& at, std::uint64_t compare, std::uint64_t swap,
                              std::uint64_t& result, std::size_t offset,
                              transport::Completion& done);
  /// The count of operations on `target` that flush waits for; notes that there is something to
  /// flush.
  [[nodiscard]] transport::Completion& pending(const Target& target);
  void flush_index(std::size_t index);
  void flush_local_index(std::size_t index);
  void complete_with_all(std::string_view operation);
  [[nodiscard]] transport::Progress& progress() const noexcept {
    return *team_state_->job().progress;
  }

  std::shared_ptr<TeamState> team_state_;
  Team team_;
  std::uint64_t number_;
  int exceptions_at_start_;
  bool allocated_;
  bool closed_ = false;
  bool atomics_refused_ = false;
  TeamPaths paths_;
  CoherenceChoice coherence_;

  // In the order of their making; released in reverse: peers' views, exposures, memory.
  std::unique_ptr<base::SharedSegment>
      segment_;  // [the part, if allocated][ControlWords], whole pages
  std::span<std::byte> local_;
  std::size_t control_offset_ = 0;
  std::vector<std::unique_ptr<transport::ExposedMemory>> exposed_;
  std::vector<std::unique_ptr<transport::PeerMemory>> attached_;
  std::vector<Target> targets_;                 // by team rank
  std::vector<transport::Completion> pending_;  // by team rank
  std::vector<std::uint32_t> touched_;          // targets with something to flush; capacity for all
  std::vector<bool> is_touched_;
  std::unique_ptr<sync::Barrier> barrier_;
};

}  // namespace oriel::window
