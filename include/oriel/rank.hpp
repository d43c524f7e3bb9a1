#pragma once
/// Rank: a process's number within a team, a type of its own so that it cannot be mistaken for an
/// offset or a count.

namespace oriel {

/// A rank of a team, 0 … size-1. Converts to int freely (printing, arithmetic); made from int only
/// explicitly: `win.put(row, oriel::Rank{1}, 0)`.
class Rank {
 public:
  constexpr Rank() noexcept = default;
  constexpr explicit Rank(int value) noexcept : value_(value) {}
  constexpr operator int() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  int value_ = 0;
};

}  // namespace oriel
