// How a window comes to be: this rank's memory is exposed, everybody learns of everybody's, peers'
// memory is attached.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "bootstrap/exchange.hpp"
#include "window/window_state.hpp"

namespace oriel::window {
namespace {

using transport::RegionDescriptor;
using transport::Transport;

/// Sizes whose arithmetic could wrap around are refused before any is done.
void check_size(std::string_view operation, std::size_t bytes) {
  if (bytes <= std::numeric_limits<std::size_t>::max() / 4) return;
  base::throw_error(ErrorCode::out_of_memory,
                    {.operation = std::string(operation),
                     .problem = "no machine has so much memory",
                     .length_bytes = bytes,
                     .hint = "sizes are counted in elements: was a negative number given?"});
}

}  // namespace

CoherenceChoice choose_coherence(bool all_near, transport::AtomicScope scope) {
  if (all_near) {
    return {CoherenceDomain::cpu, "all ranks share a machine: CPU atomics"};
  }
  switch (scope) {
    case transport::AtomicScope::system:
      return {CoherenceDomain::cpu_and_nic,
              "the devices' atomics are atomic to the CPU (IBV_ATOMIC_GLOB)"};
    case transport::AtomicScope::device:
      return {CoherenceDomain::nic,
              "the devices' atomics are not atomic to the CPU (IBV_ATOMIC_HCA): all go through the "
              "device"};
    case transport::AtomicScope::none:
      break;
  }
  return {CoherenceDomain::nic,
          "a device of the team has no atomics: atomic operations are refused"};
}

namespace {

TeamPaths paths_of(const TeamState& team) {
  TeamPaths paths;
  const JobContext& job = team.job();
  for (const int member : team.members()) {
    const JobRank& rank = job.ranks[static_cast<std::size_t>(member)];
    (rank.transport == job.verbs ? paths.verbs : paths.shm) = rank.transport;
  }
  return paths;
}

}  // namespace

WindowState::WindowState(std::shared_ptr<TeamState> team, std::string_view operation,
                         std::optional<std::span<std::byte>> own, std::size_t bytes)
    : team_state_(std::move(team)),
      team_(team_state_),
      number_(team_state_->next_window()),
      exceptions_at_start_(std::uncaught_exceptions()),
      allocated_(!own),
      paths_(paths_of(*team_state_)) {
  bootstrap::Bootstrap& group = team_state_->group();
  const auto records = bootstrap::allgather_agreed(group, operation, [&] {
    check_size(operation, bytes);
    return expose(own, bytes);
  });
  bootstrap::agree(group, operation, [&] { attach(records); });
  segment_->close_fd();  // every peer that needs it has it mapped now
}

WindowRecord WindowState::expose(std::optional<std::span<std::byte>> own, std::size_t bytes) {
  control_offset_ = allocated_ ? base::whole_pages(bytes) : 0;
  segment_ = std::make_unique<base::SharedSegment>(control_offset_ +
                                                   base::whole_pages(sizeof(sync::ControlWords)));
  team_state_->job().place_memory(segment_->bytes());
  local_ = own ? *own : segment_->bytes().first(bytes);

  WindowRecord record;
  record.bytes = bytes;
  record.is_allocated = allocated_;
  record.control_offset = control_offset_;
  const auto expose_to = [&](Transport* transport, RegionDescriptor& segment,
                             RegionDescriptor& part) {
    if (transport == nullptr) return;
    exposed_.push_back(transport->expose({segment_->bytes(), segment_.get()}));
    segment = exposed_.back()->descriptor();
    if (allocated_ || bytes == 0) return;
    exposed_.push_back(transport->expose({local_, nullptr}));
    part = exposed_.back()->descriptor();
  };
  expose_to(paths_.shm, record.segment.shm, record.own.shm);
  expose_to(paths_.verbs, record.segment.verbs, record.own.verbs);
  if (paths_.verbs != nullptr) record.scope = paths_.verbs->capabilities().atomics;
  return record;
}

void WindowState::attach(std::span<const WindowRecord> records) {
  const auto weakest = std::ranges::min_element(records, {}, &WindowRecord::scope);
  coherence_ = choose_coherence(paths_.all_near(), weakest->scope);
  atomics_refused_ = !paths_.all_near() && weakest->scope == transport::AtomicScope::none;
  targets_.resize(records.size());
  pending_.resize(records.size());
  is_touched_.resize(records.size());
  touched_.reserve(records.size());
  for (std::size_t index = 0; index < records.size(); ++index) attach_part(index, records[index]);
  make_barrier(records);
}

void WindowState::attach_part(std::size_t index, const WindowRecord& record) {
  const int world_rank = team_state_->members()[index];
  Transport* const transport =
      team_state_->job().ranks[static_cast<std::size_t>(world_rank)].transport;
  const WindowRecord::Piece& part = record.is_allocated ? record.segment : record.own;
  Target& target = targets_[index];
  target.bytes = record.bytes;
  target.data = &transport->endpoint(world_rank);
  if (record.bytes != 0) {
    const transport::PeerMemory& memory = attach_piece(world_rank, transport, part);
    target.mapped = memory.mapped();
    target.data_base = memory.base();
  }
  target.atomics = target.data;
  target.atomics_base = target.data_base;
  const bool through_nic = coherence_.domain == CoherenceDomain::nic && transport != paths_.verbs;
  if (through_nic && record.bytes != 0) {
    target.atomics = &paths_.verbs->endpoint(world_rank);
    target.atomics_base = attach_piece(world_rank, paths_.verbs, part).base();
  }
}

const transport::PeerMemory& WindowState::attach_piece(int world_rank, Transport* transport,
                                                       const WindowRecord::Piece& piece) {
  const RegionDescriptor& region = transport == paths_.verbs ? piece.verbs : piece.shm;
  attached_.push_back(transport->attach(world_rank, region));
  return *attached_.back();
}

void WindowState::make_barrier(std::span<const WindowRecord> records) {
  const int size = team_state_->size();
  const int rank = team_state_->rank();
  const auto partner = [&](int index) {
    const int world_rank = team_state_->members()[static_cast<std::size_t>(index)];
    Transport* const transport =
        team_state_->job().ranks[static_cast<std::size_t>(world_rank)].transport;
    const WindowRecord& record = records[static_cast<std::size_t>(index)];
    const transport::RemoteAddress segment =
        attach_piece(world_rank, transport, record.segment).base();
    return sync::Partner{&transport->endpoint(world_rank), segment.plus(record.control_offset)};
  };
  std::vector<sync::Round> rounds;
  for (const int distance : sync::round_distances(size)) {
    rounds.push_back({partner((rank + distance) % size), partner((rank + size - distance) % size)});
  }
  auto* const words = ::new (segment_->bytes().data() + control_offset_) sync::ControlWords{};
  barrier_ = std::make_unique<sync::Barrier>(team_state_->members(), rank, std::move(rounds),
                                             *words, progress(), *team_state_->job().health);
}

WindowState::~WindowState() {
  if (!closed_) leave();
  // The records of what is outstanding point into this object, whatever has failed.
  progress().wait([this]() noexcept {
    return std::ranges::all_of(pending_, [](const auto& one) { return one.remote_pending == 0; });
  });
}

/// The way out of a window that nobody freed. When an exception is on its way through here, this
/// rank will not take part in what the others may be waiting for: they are told instead. If the
/// team has fallen apart already, everybody knows.
void WindowState::leave() noexcept {
  if (std::uncaught_exceptions() > exceptions_at_start_ || barrier_->given_up()) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "window {} was left by an error: {}", number_, error.what());
  }
}

void WindowState::abandon() noexcept {
  closed_ = true;
  team_state_->job().broken = true;
  barrier_->give_up();
}

}  // namespace oriel::window
