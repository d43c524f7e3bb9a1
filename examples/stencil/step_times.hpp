#pragma once
/// Stop watch of a run.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace stencil {

/// Of at least one value.
template <class T>
[[nodiscard]] T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class StepTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes the memory for `steps` steps now, none during the run.
  explicit StepTimes(std::size_t steps) { steps_.reserve(steps); }

  void begin_step() { begin_ = Clock::now(); }
  void end_exchange() { exchanged_ = Clock::now(); }
  void end_step() { add(exchanged_ - begin_, Clock::now() - begin_); }
  void add(std::chrono::duration<double> exchange, std::chrono::duration<double> step) {
    exchange_sum_ += exchange.count();
    sum_ += step.count();
    steps_.push_back(static_cast<float>(step.count()));
  }

  // Seconds; 0 when there was no step.
  [[nodiscard]] double total() const noexcept { return sum_; }
  [[nodiscard]] double exchange_total() const noexcept { return exchange_sum_; }
  [[nodiscard]] double median() const;
  [[nodiscard]] std::size_t count() const noexcept { return steps_.size(); }

 private:
  Clock::time_point begin_;
  Clock::time_point exchanged_;
  double exchange_sum_ = 0;
  double sum_ = 0;
  std::vector<float> steps_;
};

}  // namespace stencil
