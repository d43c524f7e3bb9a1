#pragma once
/// Claims: which operations of one phase may touch which elements, so that the outcome is one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "conformance/program.hpp"

namespace oriel::conformance {

/// Every element of every rank's part is, within one phase, in one of four states:
///   free    nobody has touched it
///   read    by anybody, without atomics
///   owned   touched by one rank alone; plain accesses only once the one before is complete,
///           atomics through one window in the order of the calls
///   shared  accumulated on by anybody through one window, by one operation that commutes, or no_op
/// An operation that would lead anywhere else is refused. So no two operations of a phase meet of
/// which the order is open and matters.
class Claims {
 public:
  explicit Claims(const Program& program);

  void begin_phase();
  /// The rank's earlier operations on these targets through this window are complete.
  void flushed(int origin, std::size_t window, int target);
  /// The same for all ranks and targets.
  void all_flushed(std::size_t window);

  /// Notes an operation, if it is legal.
  /// @param alone  an accumulate that shares with nobody, though it could
  [[nodiscard]] bool take(const Epoch& epoch, const Operation& operation, bool alone);

 private:
  enum class State : std::uint8_t { free, read, owned, shared };
  struct Claim {
    std::uint32_t phase = 0;
    State state = State::free;
    bool atomic = false;    ///< owned: the last access was
    bool complete = false;  ///< owned: it was so at once
    OpCode op = OpCode::no_op;
    int origin = -1;
    std::uint32_t window = 0;
    std::uint32_t flushes = 0;  ///< of that origin, window and target, before it
  };
  using Way = std::tuple<int, std::size_t, int>;  ///< origin, window, target

  [[nodiscard]] bool is_complete(const Claim& claim, int target) const;
  [[nodiscard]] bool after(Claim& claim, const Epoch& epoch, const Operation& operation,
                           bool alone) const;
  [[nodiscard]] std::uint32_t flushes(int origin, std::size_t window, int target) const;

  const Program& program_;
  std::uint32_t phase_ = 0;
  std::vector<std::vector<std::vector<Claim>>> claims_;  // by memory and rank
  std::map<Way, std::uint32_t> flushes_;
};

}  // namespace oriel::conformance
