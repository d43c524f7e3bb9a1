// The bytes of put and get: which target, which path, in which pieces.

#include <array>
#include <span>

#include <fmt/format.h>

#include <oriel/shared_bytes.hpp>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/data_path.hpp"
#include "window/pieces.hpp"

namespace oriel::window {

using transport::Completion;

void WindowState::throw_invalid_rank(std::string_view operation, Rank target) const {
  base::throw_error(
      ErrorCode::invalid_rank,
      {.operation = std::string(operation),
       .problem = fmt::format("target {} of a team of {}", static_cast<int>(target), parts_.size()),
       .origin = team_state_->job().world_rank,
       .window = number_,
       .hint = fmt::format("ranks are 0 to {}", parts_.size() - 1)});
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
               : fmt::format("the part of team rank {} has {} bytes", index, parts_[index].bytes),
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
                      const Layout& to, std::size_t element, const Route& route) {
  check_counts(where, from.count(), to.count());
  const DataPlace start =
      locate(where, checked_bytes(where.operation, to.extent(), element), route);
  auto* const origin = const_cast<std::byte*>(source);  // NOLINT: runs of a put are only read
  const transport::Corked corked(route.data);
  RunBatch batch(
      route.way.turns(),
      [&](std::span<const transport::Run> runs) noexcept {
        return route.data.put_runs(runs, start.address, route.done);
      },
      [&](const transport::Run& run) {
        start_put(start, run.offset, run.origin, run.bytes, route);
      });
  for_each_piece(from, to, [&](const Piece& piece) {
    batch.add({origin + piece.origin * element, piece.target * element, piece.elements * element});
  });
  batch.flush();
}

void WindowState::get(std::byte* destination, const Layout& to, const TargetBytes& where,
                      const Layout& from, std::size_t element, const Route& route) {
  check_counts(where, to.count(), from.count());
  const DataPlace start =
      locate(where, checked_bytes(where.operation, from.extent(), element), route);
  const transport::Corked corked(route.data);
  RunBatch batch(
      route.way.turns(),
      [&](std::span<const transport::Run> runs) noexcept {
        return route.data.get_runs(runs, start.address, route.done);
      },
      [&](const transport::Run& run) {
        start_get(start, run.offset, run.origin, run.bytes, route);
      });
  for_each_piece(to, from, [&](const Piece& piece) {
    batch.add(
        {destination + piece.origin * element, piece.target * element, piece.elements * element});
  });
  batch.flush();
}

}  // namespace oriel::window
