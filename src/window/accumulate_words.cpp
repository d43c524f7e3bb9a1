// Accumulates by a device's atomics, which know words of 64 bits and two operations on them.
//
// Sums of integers, and reads, are a fetch-and-add for each element, all under way at once. Every
// other operation is a compare-and-swap for each element: a get brings the first guess of what is
// there, and a swap that is refused brings the next. Both are atomics of one device on one word, so
// that they may meet there. A guess need not be atomic: a wrong one is refused.
//
// All goes by the endpoint of the atomics, whose operations arrive in order: that of the calls.

#include <array>
#include <cstdint>
#include <cstring>

#include "base/reduction.hpp"
#include "sync/flush.hpp"
#include "window/accumulate.hpp"
#include "window/accumulate_pieces.hpp"

namespace oriel::window {
namespace {

using transport::Completion;
using transport::Endpoint;
using transport::RemoteAddress;

constexpr std::size_t kWord = sizeof(std::uint64_t);

[[nodiscard]] std::uint64_t load_word(const std::byte* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kWord);
  return word;
}

[[nodiscard]] bool is_aligned(const std::byte* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % kWord == 0;
}

[[nodiscard]] bool is_fetch_add(ElementKind kind, OpCode op) noexcept {
  const bool integer = kind == ElementKind::signed64 || kind == ElementKind::unsigned64;
  return op == OpCode::no_op || (op == OpCode::sum && integer);
}

/// Up to 64 elements that are being swapped, all at once, until none is left.
class SwappedWords {
 public:
  SwappedWords(transport::Progress& progress, Endpoint& endpoint, RemoteAddress base,
               ElementType type, OpCode op, transport::Tally* tally) noexcept
      : progress_(progress),
        endpoint_(endpoint),
        base_(base),
        type_(type),
        op_(op),
        done_(progress, tally) {}

  void add(ElementPiece piece) {
    while (piece.elements != 0) {
      const std::size_t count = std::min(piece.elements, kMost - count_);
      take(piece.first(count));
      piece = piece.without(count, kWord);
      if (count_ == kMost) settle();
    }
  }

  void settle() {
    if (count_ != 0) sync::flush_local(progress_, endpoint_, *done_);
    while (count_ != 0) {
      wanted_ = guess_;
      base::reduce(type_, op_, bytes_of(wanted_), bytes_of(operand_), count_);
      for (std::size_t i = 0; i < count_; ++i) swap(i);
      sync::flush_local(progress_, endpoint_, *done_);
      keep_refused();
    }
  }

 private:
  static constexpr std::size_t kMost = 64;
  using Words = std::array<std::uint64_t, kMost>;

  static std::byte* bytes_of(Words& words) noexcept {
    return reinterpret_cast<std::byte*>(words.data());
  }

  void take(const ElementPiece& piece) {
    std::byte* const guesses = bytes_of(guess_) + count_ * kWord;
    const std::size_t bytes = piece.elements * kWord;
    sync::post_all(progress_, bytes, [&](std::size_t asked) noexcept {
      return endpoint_.get(guesses + asked, bytes - asked, base_.plus(piece.offset + asked),
                           *done_);
    });
    if (piece.operands != nullptr) {
      std::memcpy(bytes_of(operand_) + count_ * kWord, piece.operands, bytes);
    }
    for (std::size_t i = 0; i < piece.elements; ++i, ++count_) {
      offset_[count_] = piece.offset + i * kWord;
      result_[count_] = piece.results != nullptr ? piece.results + i * kWord : nullptr;
    }
  }

  void swap(std::size_t i) {
    sync::post(progress_, [&]() noexcept {
      return endpoint_.compare_and_swap(guess_[i], wanted_[i], &seen_[i], base_.plus(offset_[i]),
                                        *done_);
    });
  }

  /// Moves the elements that are not done to the front; what was seen there is the next guess.
  void keep_refused() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (seen_[i] == guess_[i]) {
        if (result_[i] != nullptr) std::memcpy(result_[i], &seen_[i], kWord);
        continue;
      }
      guess_[kept] = seen_[i];
      operand_[kept] = operand_[i];
      offset_[kept] = offset_[i];
      result_[kept] = result_[i];
      ++kept;
    }
    count_ = kept;
  }

  transport::Progress& progress_;
  Endpoint& endpoint_;
  RemoteAddress base_;
  ElementType type_;
  OpCode op_;
  std::size_t count_ = 0;
  Words guess_{};   // of what is there
  Words wanted_{};  // instead
  Words seen_{};    // what was there
  Words operand_{};
  std::array<std::size_t, kMost> offset_{};
  std::array<std::byte*, kMost> result_{};
  OwnCompletion done_;  // waited for before the words go
};

}  // namespace

void Accumulator::by_words(const AccumulateRequest& request, const Target& target,
                           Completion& done) const {
  if (is_fetch_add(request.type.kind, request.op) && is_aligned(request.results)) {
    return add_words(request, target, done);
  }
  SwappedWords words(progress_, *target.atomics, target.atomics_base, request.type, request.op,
                     done.tally);
  for_each_piece(request, [&](const ElementPiece& piece) { words.add(piece); });
  words.settle();
}

void Accumulator::add_words(const AccumulateRequest& request, const Target& target,
                            Completion& done) const {
  const bool adds = request.op == OpCode::sum;
  for_each_piece(request, [&](const ElementPiece& piece) {
    for (std::size_t i = 0; i < piece.elements; ++i) {
      const ElementPiece one = piece.without(i, kWord);
      sync::post(progress_, [&]() noexcept {
        return target.atomics->fetch_add(adds ? load_word(one.operands) : 0,
                                         reinterpret_cast<std::uint64_t*>(one.results),
                                         target.atomics_base.plus(one.offset), done);
      });
    }
  });
}

void Accumulator::swap_word(const CompareAndSwapRequest& request, const Target& target,
                            Completion& done) const {
  const auto post = [&](std::uint64_t* result, Completion& counted) {
    sync::post(progress_, [&]() noexcept {
      return target.atomics->compare_and_swap(
          load_word(request.compare), load_word(request.swap), result,
          target.atomics_base.plus(request.offset_bytes), counted);
    });
  };
  if (is_aligned(request.result)) {
    return post(reinterpret_cast<std::uint64_t*>(request.result), done);
  }
  std::uint64_t result = 0;
  OwnCompletion own(progress_, done.tally);
  post(&result, *own);
  sync::flush_local(progress_, *target.atomics, *own);
  std::memcpy(request.result, &result, kWord);
}

}  // namespace oriel::window
