// Accumulates on elements that no atomic covers: get, compute, put, while nobody else accumulates
// on that part. Exactly the addressed bytes are written: their neighbours may be put to meanwhile.

#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "base/reduction.hpp"
#include "sync/flush.hpp"
#include "window/accumulate.hpp"
#include "window/accumulate_copies.hpp"
#include "window/accumulate_pieces.hpp"

namespace oriel::window {
namespace {

using transport::Completion;

/// The accumulate lock of a part, or nothing where it is not needed.
class Guard {
 public:
  Guard(TargetMutex& locks, std::size_t team_rank, bool needed)
      : locks_(locks), team_rank_(team_rank) {
    if (needed) locks_.lock(team_rank_);
    held_ = needed;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// Errors: as TargetMutex::unlock().
  void release() {
    if (std::exchange(held_, false)) locks_.unlock(team_rank_);
  }
  ~Guard() {
    try {
      release();
    } catch (const std::exception& error) {  // what has led here is thrown already
      base::log(base::LogLevel::info, "leaving an accumulate lock: {}", error.what());
    }
  }

 private:
  TargetMutex& locks_;
  std::size_t team_rank_;
  bool held_ = false;
};

/// Copies from and to one part, by plain loads and stores if they reach it.
class PartCopies {
 public:
  PartCopies(transport::Progress& progress, const Target& target, transport::Tally* tally) noexcept
      : progress_(progress), target_(target), done_(progress, tally) {}

  void get(std::byte* to, std::size_t bytes, std::size_t offset) {
    if (target_.mapped != nullptr) {
      std::memcpy(to, target_.mapped + offset, bytes);
      return;
    }
    sync::post_all(progress_, bytes, [&](std::size_t asked) noexcept {
      return target_.data->get(to + asked, bytes - asked, target_.data_base.plus(offset + asked),
                               *done_);
    });
  }
  void put(const std::byte* from, std::size_t bytes, std::size_t offset) {
    if (target_.mapped != nullptr) {
      std::memmove(target_.mapped + offset, from, bytes);
      return;
    }
    sync::post_all(progress_, bytes, [&](std::size_t sent) noexcept {
      return target_.data->put(from + sent, bytes - sent, target_.data_base.plus(offset + sent),
                               *done_);
    });
  }
  /// Until all gets have arrived, and the memory of all puts may be reused.
  void wait() { sync::flush_local(progress_, *target_.data, *done_); }
  /// Until all puts are done.
  void flush() { sync::flush(progress_, *target_.data, *done_); }

 private:
  transport::Progress& progress_;
  const Target& target_;
  OwnCompletion done_;
};

/// Reads, replacements, and both: nothing is computed, so that elements go straight from and to the
/// program's memory.
void exchange(PartCopies& part, const AccumulateRequest& request) {
  if (request.results != nullptr) {
    for_each_piece(request, [&](const ElementPiece& piece) {
      part.get(piece.results, piece.elements * request.type.bytes, piece.offset);
    });
    part.wait();
  }
  if (request.op == OpCode::no_op) return;
  for_each_piece(request, [&](const ElementPiece& piece) {
    part.put(piece.operands, piece.elements * request.type.bytes, piece.offset);
  });
}

void combine_in_place(const Target& target, const AccumulateRequest& request) {
  for_each_piece(request, [&](const ElementPiece& piece) {
    std::byte* const elements = target.mapped + piece.offset;
    if (piece.results != nullptr) {
      std::memcpy(piece.results, elements, piece.elements * request.type.bytes);
    }
    base::reduce(request.type, request.op, elements, piece.operands, piece.elements);
  });
}

/// Fetches elements block by block and sends them back combined.
class BlockwiseUpdate {
 public:
  BlockwiseUpdate(PartCopies& part, CopyScratch& scratch, ElementType type, OpCode op) noexcept
      : part_(part), scratch_(scratch), type_(type), op_(op) {}

  void add(ElementPiece piece) {
    while (piece.elements != 0) {
      const std::size_t room = (CopyScratch::kBytes - used_) / type_.bytes;
      const std::size_t count = std::min(piece.elements, room);
      part_.get(scratch_.elements.data() + used_, count * type_.bytes, piece.offset);
      scratch_.pieces[pieces_++] = piece.first(count);
      piece = piece.without(count, type_.bytes);
      used_ += count * type_.bytes;
      if (count == room || pieces_ == CopyScratch::kPieces) settle();
    }
  }

  void settle() {
    part_.wait();
    std::byte* elements = scratch_.elements.data();
    for (const ElementPiece& piece : std::span(scratch_.pieces).first(pieces_)) {
      const std::size_t bytes = piece.elements * type_.bytes;
      if (piece.results != nullptr) std::memcpy(piece.results, elements, bytes);
      base::reduce(type_, op_, elements, piece.operands, piece.elements);
      part_.put(elements, bytes, piece.offset);
      elements += bytes;
    }
    part_.wait();
    pieces_ = 0;
    used_ = 0;
  }

 private:
  PartCopies& part_;
  CopyScratch& scratch_;
  ElementType type_;
  OpCode op_;
  std::size_t pieces_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

/// Copies take another way than atomics, and might overtake those that this rank has under way.
/// With the lock nothing of the same elements is: whatever needed it has been flushed.
void Accumulator::flush_earlier(const Target& target, Completion& done) const {
  if (done.remote_pending == 0) return;
  if (target.atomics != target.data) {
    sync::post(progress_, [&]() noexcept { return target.atomics->seal(done); });
  }
  sync::flush(progress_, *target.data, done);
}

void Accumulator::by_copies(const AccumulateRequest& request, Mechanism chosen,
                            std::size_t team_rank, const Target& target, Completion& done) {
  if (chosen == Mechanism::unguarded) flush_earlier(target, done);
  const bool computes = request.op != OpCode::no_op && request.op != OpCode::replace;
  if (computes && !scratch_) scratch_ = std::make_unique<CopyScratch>();
  Guard guard(locks_, team_rank, chosen == Mechanism::locked);
  PartCopies part(progress_, target, done.tally);
  if (!computes) {
    exchange(part, request);
  } else if (target.mapped != nullptr) {
    combine_in_place(target, request);
  } else {
    BlockwiseUpdate update(part, *scratch_, request.type, request.op);
    for_each_piece(request, [&](const ElementPiece& piece) { update.add(piece); });
    update.settle();
  }
  if (request.op != OpCode::no_op) part.flush();
  guard.release();
}

void Accumulator::swap_by_copies(const CompareAndSwapRequest& request, Mechanism chosen,
                                 std::size_t team_rank, const Target& target, Completion& done) {
  if (chosen == Mechanism::unguarded) flush_earlier(target, done);
  std::array<std::byte, CompareAndSwapRequest::kMostBytes> seen{};
  Guard guard(locks_, team_rank, chosen == Mechanism::locked);
  PartCopies part(progress_, target, done.tally);
  part.get(seen.data(), request.type.bytes, request.offset_bytes);
  part.wait();
  if (std::memcmp(seen.data(), request.compare, request.type.bytes) == 0) {
    part.put(request.swap, request.type.bytes, request.offset_bytes);
    part.flush();
  }
  guard.release();
  std::memcpy(request.result, seen.data(), request.type.bytes);
}

}  // namespace oriel::window
