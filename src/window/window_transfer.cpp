// The bytes of put and get: which target, which path, in which pieces.

#include <array>
#include <span>

#include <fmt/format.h>

#include <oriel/shared_bytes.hpp>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/pieces.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

using transport::Completion;

std::size_t WindowState::checked_index(std::string_view operation, Rank target) const {
  const auto index =
      static_cast<std::size_t>(static_cast<int>(target));  // a negative rank becomes huge
  if (index < targets_.size()) return index;
  base::throw_error(ErrorCode::invalid_rank,
                    {.operation = std::string(operation),
                     .problem = fmt::format("target {} of a team of {}", static_cast<int>(target),
                                            targets_.size()),
                     .origin = team_state_->job().world_rank,
                     .window = number_,
                     .hint = fmt::format("ranks are 0 to {}", targets_.size() - 1)});
}

const Target& WindowState::part_of(const TargetBytes& where, std::size_t bytes) const {
  const Target& found = targets_[checked_index(where.operation, where.rank)];
  if (where.offset > found.bytes || bytes > found.bytes - where.offset) [[unlikely]]
    throw_out_of_range(where, bytes);
  return found;
}

Spot WindowState::locate(const TargetBytes& where, std::size_t bytes) {
  if (kind_ != WindowKind::dynamic) return {part_of(where, bytes), where.offset};
  return locate_region(where, checked_index(where.operation, where.rank), bytes);
}

void WindowState::throw_out_of_range(const TargetBytes& where, std::size_t bytes) const {
  const auto index = static_cast<std::size_t>(static_cast<int>(where.rank));
  const bool attached = kind_ == WindowKind::dynamic;
  const auto& job = team_state_->job();
  const int world_rank = team_state_->members()[index];
  base::throw_error(
      ErrorCode::out_of_range,
      {.operation = std::string(where.operation),
       .problem =
           attached
               ? fmt::format("no region that team rank {} has attached holds these bytes", index)
               : fmt::format("the part of team rank {} has {} bytes", index, targets_[index].bytes),
       .origin = job.world_rank,
       .target = world_rank,
       .target_host = job.ranks[static_cast<std::size_t>(world_rank)].host,
       .window = number_,
       .offset_bytes = where.offset,
       .length_bytes = bytes,
       .hint = attached ? "the offset is what the target's attach() returned; was it detached?"
                        : "sizes may differ from rank to rank: size(target) tells the target's"});
}

void WindowState::check_counts(const TargetBytes& where, std::size_t origin,
                               std::size_t target) const {
  if (origin == target) return;
  base::throw_error(ErrorCode::invalid_argument,
                    {.operation = std::string(where.operation),
                     .problem = fmt::format("{} elements here, {} at the target", origin, target),
                     .origin = team_state_->job().world_rank,
                     .window = number_,
                     .hint = "both layouts must name equally many elements"});
}

bool WindowState::put_by_cpu(const std::byte* source, std::size_t bytes, const TargetBytes& to) {
  std::byte* const there = find(to.rank, to.offset, bytes);
  if (there == nullptr) return false;
  detail::store_bytes(there, source, bytes);
  return true;
}

bool WindowState::get_by_cpu(std::byte* destination, std::size_t bytes, const TargetBytes& from) {
  const std::byte* const there = find(from.rank, from.offset, bytes);
  if (there == nullptr) return false;
  detail::load_bytes(destination, there, bytes);
  return true;
}

bool WindowState::put_by_cpu(const std::byte* source, const Layout& from, const TargetBytes& where,
                             const Layout& to, std::size_t element) {
  check_counts(where, from.count(), to.count());
  const std::size_t bytes = checked_bytes(where.operation, to.extent(), element);
  std::byte* const start = find(where.rank, where.offset, bytes);
  if (start == nullptr) return false;
  for_each_piece(from, to, [=](const Piece& piece) {
    detail::store_bytes(start + piece.target * element, source + piece.origin * element,
                        piece.elements * element);
  });
  return true;
}

bool WindowState::get_by_cpu(std::byte* destination, const Layout& to, const TargetBytes& where,
                             const Layout& from, std::size_t element) {
  check_counts(where, to.count(), from.count());
  const std::size_t bytes = checked_bytes(where.operation, from.extent(), element);
  const std::byte* const start = find(where.rank, where.offset, bytes);
  if (start == nullptr) return false;
  for_each_piece(to, from, [=](const Piece& piece) {
    detail::load_bytes(destination + piece.origin * element, start + piece.target * element,
                       piece.elements * element);
  });
  return true;
}

/// The same, by the given way.
Spot WindowState::locate(const TargetBytes& where, std::size_t bytes, Traffic& way) {
  Spot spot = locate(where, bytes);
  if (way.lane() == nullptr) return spot;
  spot.target.data = &data_endpoint(checked_index(where.operation, where.rank), way);
  return spot;
}

void WindowState::start_put(const Target& to, std::size_t offset, const std::byte* source,
                            std::size_t bytes, Traffic& way, Completion& done) {
  if (to.mapped != nullptr) {
    detail::store_bytes(to.mapped + offset, source, bytes);
  } else {
    sync::post_all(way.turns(), bytes, [&](std::size_t sent) noexcept {
      return to.data->put(source + sent, bytes - sent, to.data_base.plus(offset + sent), done);
    });
  }
}

void WindowState::start_get(const Target& from, std::size_t offset, std::byte* destination,
                            std::size_t bytes, Traffic& way, Completion& done) {
  if (from.mapped != nullptr) {
    detail::load_bytes(destination, from.mapped + offset, bytes);
  } else {
    sync::post_all(way.turns(), bytes, [&](std::size_t asked) noexcept {
      return from.data->get(destination + asked, bytes - asked, from.data_base.plus(offset + asked),
                            done);
    });
  }
}

void WindowState::put(const std::byte* source, std::size_t bytes, const TargetBytes& to,
                      Traffic& way, Completion& done) {
  const auto [target, offset] = locate(to, bytes, way);
  start_put(target, offset, source, bytes, way, done);
}

void WindowState::get(std::byte* destination, std::size_t bytes, const TargetBytes& from,
                      Traffic& way, Completion& done) {
  const auto [target, offset] = locate(from, bytes, way);
  start_get(target, offset, destination, bytes, way, done);
}

namespace {

/// Hands the short runs of a strided transfer to the endpoint many at a time, and long ones by
/// themselves.
template <class PostRuns, class PostOne>
class RunBatch {
 public:
  RunBatch(transport::Progress& progress, PostRuns post_runs, PostOne post_one)
      : progress_(progress), post_runs_(post_runs), post_one_(post_one) {}

  void add(const transport::Run& run) {
    if (run.bytes > transport::kMostRunBytes) {
      flush();
      post_one_(run);
      return;
    }
    runs_[count_++] = run;
    if (count_ == runs_.size()) flush();
  }
  void flush() {
    sync::post_all(progress_, count_, [&](std::size_t taken) noexcept {
      return post_runs_(std::span(runs_).first(count_).subspan(taken));
    });
    count_ = 0;
  }

 private:
  transport::Progress& progress_;
  PostRuns post_runs_;
  PostOne post_one_;
  std::array<transport::Run, transport::kMostScattered> runs_{};
  std::size_t count_ = 0;
};

}  // namespace

void WindowState::put(const std::byte* source, const Layout& from, const TargetBytes& where,
                      const Layout& to, std::size_t element, Traffic& way, Completion& done) {
  check_counts(where, from.count(), to.count());
  const Spot start = locate(where, checked_bytes(where.operation, to.extent(), element), way);
  const Target& target = start.target;
  auto* const origin = const_cast<std::byte*>(source);  // NOLINT: runs of a put are only read
  const transport::Corked corked(*target.data);
  RunBatch batch(
      way.turns(),
      [&](std::span<const transport::Run> runs) noexcept {
        return target.data->put_runs(runs, target.data_base.plus(start.offset), done);
      },
      [&](const transport::Run& run) {
        start_put(target, start.offset + run.offset, run.origin, run.bytes, way, done);
      });
  for_each_piece(from, to, [&](const Piece& piece) {
    batch.add({origin + piece.origin * element, piece.target * element, piece.elements * element});
  });
  batch.flush();
}

void WindowState::get(std::byte* destination, const Layout& to, const TargetBytes& where,
                      const Layout& from, std::size_t element, Traffic& way, Completion& done) {
  check_counts(where, to.count(), from.count());
  const Spot start = locate(where, checked_bytes(where.operation, from.extent(), element), way);
  const Target& target = start.target;
  const transport::Corked corked(*target.data);
  RunBatch batch(
      way.turns(),
      [&](std::span<const transport::Run> runs) noexcept {
        return target.data->get_runs(runs, target.data_base.plus(start.offset), done);
      },
      [&](const transport::Run& run) {
        start_get(target, start.offset + run.offset, run.origin, run.bytes, way, done);
      });
  for_each_piece(to, from, [&](const Piece& piece) {
    batch.add(
        {destination + piece.origin * element, piece.target * element, piece.elements * element});
  });
  batch.flush();
}

}  // namespace oriel::window
