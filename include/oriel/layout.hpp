#pragma once
/// Layout: where the elements of a transfer lie, for data that is not contiguous
/// [MPI_Type_create_subarray, MPI_Type_vector, MPI_Type_create_indexed_block].

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include <oriel/export.hpp>

namespace oriel {

/// One dimension of a strided layout.
struct Dimension {
  std::size_t count = 1;   ///< repetitions
  std::size_t stride = 0;  ///< elements from the start of one to the start of the next
};

/// Where the elements of a transfer lie, counted in elements from the start of the origin's span or
/// from the offset in the target's part. Origin and target have layouts of their own; elements
/// correspond in the order in which the layouts name them, so only their numbers must be equal.
///
/// The layout of a target must name no element twice in a put or accumulate, nor the layout of an
/// origin in a get. Cost: a put or get costs one request per contiguous piece, told to the device
/// in batches; nothing is packed by the program. Threads: any.
class ORIEL_API Layout {
 public:
  static constexpr std::size_t kMaxDimensions = 5;

  /// `count` elements side by side.
  [[nodiscard]] static Layout contiguous(std::size_t count) noexcept;
  /// Blocks of `block` elements, repeated in up to five dimensions, the first of which runs
  /// slowest: the column of a matrix of `rows` x `columns` is strided(1, {{rows, columns}}).
  /// Errors: invalid_argument (more than five dimensions), out_of_range (64 bits do not hold it).
  [[nodiscard]] static Layout strided(std::size_t block, std::span<const Dimension> dimensions);
  [[nodiscard]] static Layout strided(std::size_t block,
                                      std::initializer_list<Dimension> dimensions) {
    return strided(block, std::span(dimensions.begin(), dimensions.size()));
  }
  /// Blocks of `block` elements at the given offsets, in their order. The offsets are not copied:
  /// they stay as they are until the call that uses the layout has returned.
  /// Errors: out_of_range.
  [[nodiscard]] static Layout indexed(std::size_t block, std::span<const std::size_t> offsets);

  /// Elements that the layout names.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// One past the largest element named, counted from the start; 0 for none.
  [[nodiscard]] std::size_t extent() const noexcept { return extent_; }
  [[nodiscard]] std::size_t block() const noexcept { return block_; }
  [[nodiscard]] std::span<const Dimension> dimensions() const noexcept {
    return std::span(dimensions_).first(rank_);
  }
  [[nodiscard]] std::span<const std::size_t> offsets() const noexcept { return offsets_; }
  [[nodiscard]] bool is_contiguous() const noexcept {
    return rank_ == 0 && offsets_.data() == nullptr;
  }

 private:
  Layout() = default;
  std::size_t block_ = 0;
  std::size_t count_ = 0;
  std::size_t extent_ = 0;
  std::size_t rank_ = 0;
  std::array<Dimension, kMaxDimensions> dimensions_{};
  std::span<const std::size_t> offsets_{};
};

}  // namespace oriel
