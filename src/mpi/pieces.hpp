#pragma once
/// Transfers between two or three places, each laid out by a datatype of its own, as what Oriel's
/// windows take: equally long pieces at lists of offsets.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpi/datatype.hpp"

namespace oriel::mpi {

/// Walks over the bytes of `count` instances of runs, in their order.
class Cursor {
 public:
  Cursor(std::span<const Run> runs, MPI_Aint extent, std::size_t count) noexcept
      : runs_(runs), extent_(extent), left_(runs.empty() ? 0 : count) {
    if (left_ == 0 || runs_.size() > 1 || static_cast<std::size_t>(extent_) != runs_[0].bytes)
      return;
    // Side by side, however many: one run.
    whole_ = {runs_[0].offset, runs_[0].bytes * left_};
    runs_ = {&whole_, 1};
    left_ = 1;
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  [[nodiscard]] bool at_end() const noexcept { return left_ == 0; }
  /// Where the next byte lies, from the place's address on.
  [[nodiscard]] MPI_Aint offset() const noexcept {
    return instance_ + runs_[run_].offset + static_cast<MPI_Aint>(taken_);
  }
  /// Bytes that lie side by side from there.
  [[nodiscard]] std::size_t bytes() const noexcept { return runs_[run_].bytes - taken_; }
  void advance(std::size_t bytes) noexcept {
    taken_ += bytes;
    if (taken_ < runs_[run_].bytes) return;
    taken_ = 0;
    if (++run_ < runs_.size()) return;
    run_ = 0;
    instance_ += extent_;
    --left_;
  }

 private:
  std::span<const Run> runs_;
  Run whole_{};
  MPI_Aint extent_;
  std::size_t left_;  // instances
  std::size_t run_ = 0;
  std::size_t taken_ = 0;
  MPI_Aint instance_ = 0;
};

/// Equally long pieces: at the n-th of `offsets`, from `begin` on, for each of the places.
template <std::size_t Places>
struct Batch {
  struct Place {
    MPI_Aint begin = 0;                  ///< the lowest offset
    std::vector<std::size_t> offsets{};  ///< from there
  };
  std::size_t bytes = 0;  ///< of each piece
  std::array<Place, Places> places;

  [[nodiscard]] std::size_t pieces() const noexcept { return places[0].offsets.size(); }
};

namespace detail {
inline constexpr std::size_t kMostPieces = 4096;

/// Offsets were collected as they are; from now on they count from the lowest.
template <std::size_t Places>
void settle(Batch<Places>& batch, std::array<std::vector<MPI_Aint>, Places>& found) {
  for (std::size_t place = 0; place < Places; ++place) {
    auto& [begin, offsets] = batch.places[place];
    begin = *std::ranges::min_element(found[place]);
    offsets.clear();
    for (const MPI_Aint offset : found[place])
      offsets.push_back(static_cast<std::size_t>(offset - begin));
    found[place].clear();
  }
}
}  // namespace detail

/// Cuts what all places have in common into batches, until one of them is at its end.
/// @param use  called with each Batch<Places>
template <std::size_t Places, class Use>
void for_each_batch(const std::array<Cursor*, Places>& places, Use&& use) {
  Batch<Places> batch;
  std::array<std::vector<MPI_Aint>, Places> found;
  const auto flush = [&] {
    if (found[0].empty()) return;
    detail::settle(batch, found);
    use(std::as_const(batch));
  };
  const auto at_end = [](const Cursor* place) { return place->at_end(); };
  while (std::ranges::none_of(places, at_end)) {
    std::size_t bytes = SIZE_MAX;
    for (const Cursor* place : places) bytes = std::min(bytes, place->bytes());
    if (bytes != batch.bytes || found[0].size() == detail::kMostPieces) flush();
    batch.bytes = bytes;
    for (std::size_t at = 0; at < Places; ++at) {
      found[at].push_back(places[at]->offset());
      places[at]->advance(bytes);
    }
  }
  flush();
}

}  // namespace oriel::mpi
