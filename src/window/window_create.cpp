// How a window comes to be: this rank's memory is exposed, everybody learns of everybody's, peers'
// memory is attached.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "bootstrap/exchange.hpp"
#include "window/window_state.hpp"

namespace oriel::window {
namespace {

constexpr std::size_t kMostSlots = 1U << 20U;

/// Sizes whose arithmetic could wrap around are refused before any is done.
void check_size(const Creation& creation) {
  const std::size_t bytes = creation.bytes;
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) {
    base::throw_error(ErrorCode::out_of_memory,
                      {.operation = std::string(creation.operation),
                       .problem = "no machine has so much memory",
                       .length_bytes = bytes,
                       .hint = "sizes are counted in elements: was a negative number given?"});
  }
  const auto check_number = [&](std::size_t number, const char* what) {
    if (number <= kMostSlots) return;
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = std::string(creation.operation),
                       .problem = fmt::format("{} {}", number, what),
                       .hint = fmt::format("at most {} are possible", kMostSlots)});
  };
  check_number(creation.options.notification_slots, "notification slots");
  check_number(creation.options.most_regions, "regions");
}

TeamPaths paths_of(const TeamState& team, WindowKind kind) {
  if (kind == WindowKind::shared) return {team.job().shm, nullptr};
  return paths_among(team.job(), team.members());
}

void check_machine(const TeamState& team, const Creation& creation) {
  if (creation.kind != WindowKind::shared) return;
  const auto& ranks = team.job().ranks;
  const JobRank& mine = ranks[static_cast<std::size_t>(team.job().world_rank)];
  for (const int member : team.members()) {
    const JobRank& other = ranks[static_cast<std::size_t>(member)];
    if (other.node == mine.node) continue;
    base::throw_error(ErrorCode::unsupported,
                      {.operation = std::string(creation.operation),
                       .problem = fmt::format("ranks {} and {} do not share a machine",
                                              team.job().world_rank, member),
                       .origin = team.job().world_rank,
                       .target = member,
                       .target_host = other.host,
                       .hint = "make it over Runtime::node(), the ranks of one machine"});
  }
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

WindowState::WindowState(std::shared_ptr<TeamState> team, const Creation& creation)
    : team_state_(std::move(team)),
      team_(team_state_),
      number_(team_state_->next_window()),
      kind_(creation.kind),
      options_(creation.options),
      exceptions_at_start_(std::uncaught_exceptions()),
      memory_(team_state_->job(), paths_of(*team_state_, creation.kind)),
      peers_(static_cast<std::size_t>(team_state_->size())),
      common_(progress(), nullptr, 0) {
  TeamGroup group(*team_state_, creation.operation);
  const auto parts = bootstrap::allgather_agreed(group, creation.operation, [&] {
    check_size(creation);
    check_machine(*team_state_, creation);
    return std::uint64_t{creation.bytes};
  });
  const auto records = bootstrap::allgather_agreed(group, creation.operation,
                                                   [&] { return expose(creation, parts); });
  bootstrap::agree(group, creation.operation, [&] {
    check_alike(creation.operation, records);
    attach(records);
  });
  segment_->close_fd();  // every peer that needs it has it mapped now
  team_state_->job().windows.push_back(this);
}

std::size_t WindowState::region_table_offset() const noexcept {
  return sizeof(sync::ControlWords) + options_.notification_slots * sizeof(std::uint64_t);
}

std::size_t WindowState::control_bytes() const noexcept {
  return region_table_offset() +
         (kind_ == WindowKind::dynamic ? RegionTable::bytes(options_.most_regions) : 0);
}

/// The parts that lie in this rank's segment: its own, none, or those of all.
std::size_t WindowState::bytes_made_here(std::span<const std::uint64_t> parts) const {
  const auto me = static_cast<std::size_t>(team_state_->rank());
  if (kind_ == WindowKind::created || kind_ == WindowKind::dynamic) return 0;
  if (!is_contiguous()) return parts[me];
  return me == 0 ? std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) : 0;
}

WindowRecord WindowState::expose(const Creation& creation, std::span<const std::uint64_t> parts) {
  WindowRecord record;
  record.bytes = creation.bytes;
  record.kind = kind_;
  record.options = options_;
  record.control_offset = base::whole_pages(bytes_made_here(parts));
  segment_ = std::make_unique<base::SharedSegment>(record.control_offset +
                                                   base::whole_pages(control_bytes()));
  team_state_->job().place_memory(segment_->bytes());
  control_ = segment_->bytes().subspan(record.control_offset);
  local_ = kind_ == WindowKind::created ? creation.memory
                                        : segment_->bytes().first(bytes_made_here(parts));

  record.segment = memory_.expose({segment_->bytes(), segment_.get()});
  if (kind_ == WindowKind::created && !local_.empty())
    record.own = memory_.expose({local_, team_state_->job().buffers->find(local_)});
  transport::Transport* const device = memory_.paths().verbs;
  if (device != nullptr) record.scope = device->capabilities().atomics;
  return record;
}

void WindowState::check_alike(std::string_view operation,
                              std::span<const WindowRecord> records) const {
  for (std::size_t index = 0; index < records.size(); ++index) {
    if (records[index].kind == kind_ && records[index].options == options_) continue;
    base::throw_error(ErrorCode::option_mismatch,
                      {.operation = std::string(operation),
                       .problem = fmt::format("team rank {} creates another kind of window, or "
                                              "with other options",
                                              index),
                       .origin = team_state_->job().world_rank,
                       .target = team_state_->members()[index],
                       .window = number_,
                       .hint = "a window is made alike by all ranks, but for the size"});
  }
}

void WindowState::attach(std::span<const WindowRecord> records) {
  const auto weakest = std::ranges::min_element(records, {}, &WindowRecord::scope);
  coherence_ = choose_coherence(memory_.paths().all_near(), weakest->scope);
  atomics_refused_ = !memory_.paths().all_near() && weakest->scope == transport::AtomicScope::none;
  if (kind_ != WindowKind::dynamic) lanes_ = team_state_->job().lanes;
  if (lanes_ != nullptr) home_ = lanes_->home();
  for (std::size_t i = 0; lanes_ != nullptr && i < lanes_->size(); ++i) {
    by_lanes_.emplace_back((*lanes_)[i].turns(), &(*lanes_)[i], i);
  }
  parts_.resize(records.size());
  const bool any_far = memory_.paths().verbs != nullptr;
  if (any_far) far_segments_.resize(records.size());
  if (any_far && kind_ == WindowKind::created) far_parts_.resize(records.size());
  for (std::size_t index = 0; index < records.size(); ++index) {
    parts_[index].bytes = records[index].bytes;
    const int world_rank = team_state_->members()[index];
    if (&memory_.path_to(world_rank) == memory_.paths().verbs) {
      note_far(index, records[index]);
    } else {
      static_cast<void>(reach(index, records[index]));  // while its descriptor is open
    }
  }
  if (is_contiguous()) place_parts(records);
  show_mapped_parts(records);
  make_protocols();
}

/// The way to memory of a rank, as the window's coherence domain has it.
Target WindowState::reach_memory(std::size_t index, const MemoryRecord& theirs,
                                 TeamMemory& attached) const {
  const int world_rank = team_state_->members()[index];
  transport::Transport& path = attached.path_to(world_rank);
  transport::Transport* const device = attached.paths().verbs;
  const bool through_nic = coherence_.domain == CoherenceDomain::nic && &path != device;
  const std::uint64_t bytes = std::max(theirs.shm.length, theirs.verbs.length);
  Target target{.bytes = bytes, .data = &path.endpoint(world_rank)};
  target.atomics = through_nic ? &device->endpoint(world_rank) : target.data;
  if (bytes == 0) return target;
  const transport::PeerMemory& memory = attached.attach(world_rank, theirs);
  target.mapped = memory.mapped();
  target.data_base = memory.base();
  target.atomics_base =
      through_nic ? attached.attach_by_device(world_rank, theirs).base() : target.data_base;
  return target;
}

/// A member from now on known, by what it said of its memory.
Peer& WindowState::reach(std::size_t index, const WindowRecord& record) {
  const Target segment = reach_memory(index, record.segment, memory_);
  Peer& peer = peers_.make();
  peer.target = kind_ == WindowKind::created ? reach_memory(index, record.own, memory_) : segment;
  peer.target.bytes = record.bytes;
  peer.control_by_data = {segment.data, segment.data_base.plus(record.control_offset)};
  peer.control_by_atomics = {segment.atomics, segment.atomics_base.plus(record.control_offset)};
  peer.adds_words = !atomics_refused_ && reach_of(peer.target) == Reach::device &&
                    choose_mechanism(coherence_.domain, Reach::device,
                                     element_type<std::uint64_t>(), promises()) == Mechanism::words;
  common_.meet(peer.pending, peer.target.data);
  peer.pending.done.tally = &common_.tally();
  if (kind_ == WindowKind::dynamic) peer.regions = std::make_unique<RegionDirectory>();
  peers_.show(index, peer);
  return peer;
}

/// Of a far member no more is kept than it takes to reach it later.
void WindowState::note_far(std::size_t index, const WindowRecord& record) {
  const auto address = [](const MemoryRecord& memory) -> transport::RemoteAddress {
    return {memory.verbs.address, memory.verbs.key};
  };
  far_segments_[index] = address(record.segment);
  if (kind_ == WindowKind::created) far_parts_[index] = address(record.own);
}

/// A far member is asked for the first time: the record is made again of what note_far() kept.
Peer& WindowState::meet(std::size_t index) {
  const auto memory = [](const transport::RemoteAddress& there, std::uint64_t bytes) {
    return MemoryRecord{.verbs = {.address = there.address, .length = bytes, .key = there.key}};
  };
  WindowRecord record{.bytes = parts_[index].bytes};
  if (kind_ == WindowKind::allocated) record.control_offset = base::whole_pages(record.bytes);
  record.segment =
      memory(far_segments_[index], record.control_offset + base::whole_pages(control_bytes()));
  if (kind_ == WindowKind::created) record.own = memory(far_parts_[index], record.bytes);
  return reach(index, record);
}

/// All parts of a contiguous window lie in the segment of the first rank.
void WindowState::place_parts(std::span<const WindowRecord> records) {
  const Target first = peer(0).target;
  std::size_t offset = 0;
  for (std::size_t index = 0; index < records.size(); ++index) {
    Target& part = peer(index).target;
    part.mapped = first.mapped + offset;
    part.data_base = part.atomics_base = first.data_base.plus(offset);
    offset += records[index].bytes;
  }
  const Target& mine = peer(static_cast<std::size_t>(team_state_->rank())).target;
  local_ = {mine.mapped, mine.bytes};
}

/// For those who look at them in inline calls. In a dynamic window the regions are what is mapped.
void WindowState::show_mapped_parts(std::span<const WindowRecord> records) {
  // Of memory of the program's own, what lies in its Buffers; by the records, as all must agree.
  const auto is_mapped_by_all = [this](const WindowRecord& record) {
    return kind_ == WindowKind::allocated || kind_ == WindowKind::shared ||
           (kind_ == WindowKind::created && (record.bytes == 0 || record.own.shm.fd >= 0));
  };
  in_place_ =
      coherence_.domain == CoherenceDomain::cpu && std::ranges::all_of(records, is_mapped_by_all);
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const Peer* const known = peers_.find(index);
    if (known == nullptr) continue;
    if (kind_ != WindowKind::dynamic) parts_[index].address = known->target.mapped;
    if (!in_place_) continue;
    const std::uint64_t address = known->control_by_data.words.address;
    mapped_controls_.push_back(reinterpret_cast<sync::ControlWords*>(address));
  }
}

void WindowState::make_protocols() {
  JobContext& job = team_state_->job();
  const int rank = team_state_->rank();
  std::vector<int> nodes;
  for (const int member : team_state_->members())
    nodes.push_back(job.ranks[static_cast<std::size_t>(member)].node);
  const auto by_data = [this](int index) {
    return peer(static_cast<std::size_t>(index)).control_by_data;
  };
  const auto by_atomics = [this](int index) {
    return peer(static_cast<std::size_t>(index)).control_by_atomics;
  };
  auto* const words = ::new (control_.data()) sync::ControlWords{};
  const auto slots =
      std::span(reinterpret_cast<std::uint64_t*>(words + 1), options_.notification_slots);
  barrier_ = std::make_unique<sync::Barrier>(
      team_state_->members(), rank, sync::make_rounds(sync::meetings(nodes, rank), by_data), *words,
      progress(), *job.health);
  vigil_ =
      std::make_unique<sync::Vigil>(team_state_->members(), rank, *words, *job.health, by_data);
  locks_ = std::make_unique<LockEpochs>(*words, by_atomics, progress(), *vigil_, number_,
                                        mapped_controls_);
  exposure_ = std::make_unique<sync::Exposure>(*words, by_data, progress(), *vigil_);
  notifications_ = std::make_unique<sync::Notifications>(slots, progress(), *vigil_);
  accumulate_locks_ = std::make_unique<AccumulateLocks>(*words, by_atomics, progress(), *vigil_);
  if (in_place_) stripes_.emplace(mapped_controls_, *vigil_);
  accumulator_ =
      std::make_unique<Accumulator>(progress(), *accumulate_locks_,
                                    AccumulateFacts{.domain = coherence_.domain,
                                                    .promises = promises(),
                                                    .stripes = stripes_ ? &*stripes_ : nullptr});
  if (kind_ != WindowKind::dynamic) return;
  auto* const table = reinterpret_cast<RegionTable*>(control_.data() + region_table_offset());
  regions_ =
      std::make_unique<RegionOwner>(*table, options_.most_regions, job, memory_.paths(), number_);
}

std::span<std::byte> WindowState::shared_span(Rank target) const {
  const Part& part = parts_[checked_index("shared_span", target)];
  if (part.address != nullptr) return {part.address, part.bytes};
  base::throw_error(
      ErrorCode::unsupported,
      {.operation = "shared_span",
       .problem = fmt::format("the part of team rank {} is not mapped here: the window is {}",
                              static_cast<int>(target), to_string(kind_)),
       .origin = team_state_->job().world_rank,
       .target = team_state_->world_rank("shared_span", target),
       .window = number_,
       .hint = "use Window::allocate_shared() over Runtime::node()"});
}

}  // namespace oriel::window
