#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <oriel/layout.hpp>
#include <oriel/operations.hpp>
#include <oriel/shared_bytes.hpp>

#include "base/reduction.hpp"
#include "transport/completion.hpp"
#include "transport/progress.hpp"
#include "window/mechanism.hpp"
#include "window/stripes.hpp"
#include "window/target.hpp"

namespace oriel::window {

/// The accumulate locks of a window, one for every team rank's part. Held by one rank at a time;
/// who takes it sees what the one before has completed at that part.
class TargetMutex {
 public:
  TargetMutex() = default;
  TargetMutex(const TargetMutex&) = delete;
  TargetMutex& operator=(const TargetMutex&) = delete;
  virtual ~TargetMutex() = default;
  /// Errors: as the transport's; the lock is then not held.
  virtual void lock(std::size_t team_rank) = 0;
  virtual void unlock(std::size_t team_rank) = 0;
};

/// Any operation of the family: target[i] = op(target[i], operands[i]) for `count` elements, and
/// results[i] the value before. Accumulate, get_accumulate, fetch_and_op, atomic put and get.
struct AccumulateRequest {
  std::string_view operation = "accumulate";  ///< the call's name, for errors
  ElementType type{};
  OpCode op = OpCode::sum;
  std::size_t count = 0;
  const std::byte* operands = nullptr;  ///< null for no_op
  std::byte* results = nullptr;         ///< null: not wanted. Does not overlap the operands
  std::size_t offset_bytes = 0;         ///< of the target layout's start
  // Null: side by side. Else of `count` elements each; those of null pointers do not count.
  const Layout* operand_layout = nullptr;
  const Layout* result_layout = nullptr;
  const Layout* target_layout = nullptr;
};

/// result = target; if it equals `compare`, bit by bit, target = swap.
struct CompareAndSwapRequest {
  static constexpr std::size_t kMostBytes = 16;

  std::string_view operation = "compare_and_swap";
  ElementType type{};  ///< of 1 … kMostBytes
  const std::byte* compare = nullptr;
  const std::byte* swap = nullptr;
  std::byte* result = nullptr;
  std::size_t offset_bytes = 0;
};

/// What is the same for all accumulates of a rank on a window.
struct AccumulateFacts {
  CoherenceDomain domain = CoherenceDomain::cpu;
  AccumulatePromises promises{};
  const Stripes* stripes = nullptr;  ///< if all parts are mapped at all ranks
};

/// How this rank gets to a target's words, where not all parts are mapped at all ranks.
[[nodiscard]] Reach reach_of(const Target& target) noexcept;

struct CopyScratch;

/// Carries out accumulates on the parts of one window, by the mechanism that choose_mechanism()
/// names.
///
/// Completion: on return the operands may be reused. The results are there when `done` is locally
/// complete; the elements are changed when it is remotely complete. Order: the accumulates of this
/// object on one location are carried out in the order of the calls.
/// Requires of both calls: the range was checked, and check_supported() holds. No alignment is
/// needed. Errors: those of the transport. Threads: one-at-a-time.
class Accumulator {
 public:
  Accumulator(transport::Progress& progress, TargetMutex& locks, const AccumulateFacts& facts);
  ~Accumulator();
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  void accumulate(const AccumulateRequest& request, std::size_t team_rank, const Target& target,
                  transport::Completion& done);
  void compare_and_swap(const CompareAndSwapRequest& request, std::size_t team_rank,
                        const Target& target, transport::Completion& done);

  /// Elements side by side, where all parts are mapped at all ranks: done on return.
  /// Threads: any.
  void in_place(ElementType type, OpCode op, const Stripes::Place& target,
                const std::byte* operands, std::byte* results, std::size_t count) const;

 private:
  [[nodiscard]] Mechanism mechanism(const Target& target, ElementType type,
                                    std::size_t offset) const noexcept;
  void swap_in_place(const CompareAndSwapRequest& request, const Stripes::Place& target) const;
  void by_cpu(const AccumulateRequest& request, const Target& target) const;
  void by_agent(const AccumulateRequest& request, const Target& target,
                transport::Completion& done) const;
  // accumulate_words.cpp
  void by_words(const AccumulateRequest& request, const Target& target,
                transport::Completion& done) const;
  void add_words(const AccumulateRequest& request, const Target& target,
                 transport::Completion& done) const;
  void swap_word(const CompareAndSwapRequest& request, const Target& target,
                 transport::Completion& done) const;
  // accumulate_copies.cpp: locked and unguarded
  void by_copies(const AccumulateRequest& request, Mechanism chosen, std::size_t team_rank,
                 const Target& target, transport::Completion& done);
  void swap_by_copies(const CompareAndSwapRequest& request, Mechanism chosen, std::size_t team_rank,
                      const Target& target, transport::Completion& done);
  void flush_earlier(const Target& target, transport::Completion& done) const;

  transport::Progress& progress_;
  TargetMutex& locks_;
  AccumulateFacts facts_;
  std::unique_ptr<CopyScratch> scratch_;  // from the first accumulate that needs it
};

/// Whether atomic instructions combine elements, rather than whoever holds their stripe.
[[nodiscard]] inline bool is_atomic_in_place(ElementType type, const std::byte* target) noexcept {
  return detail::is_between(type.kind, ElementKind::signed8, ElementKind::unsigned64) &&
         (std::bit_cast<std::uintptr_t>(target) & (type.bytes - 1)) == 0;
}

inline void Accumulator::in_place(ElementType type, OpCode op, const Stripes::Place& target,
                                  const std::byte* operands, std::byte* results,
                                  std::size_t count) const {
  if (facts_.promises.no_concurrent) {
    detail::before_loads();
    detail::has_stored = true;
    if (results != nullptr) std::memcpy(results, target.bytes, count * type.bytes);
    base::reduce(type, op, target.bytes, operands, count);
  } else if (is_atomic_in_place(type, target.bytes)) {
    base::reduce_shared(type, op, target.bytes, operands, results, count);
  } else {
    facts_.stripes->reduce(type, op, target, operands, results, count);
  }
}

}  // namespace oriel::window
