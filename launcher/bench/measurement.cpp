#include "launcher/bench/measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include <mpi.h>

namespace oriel::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleSeconds = 200e-6;
constexpr std::size_t kMostTimes = 1'000'000;
constexpr std::size_t kLeastTogether = 256;  // operations under way together, to call it a rate
constexpr std::size_t kLeastSamples = 11;
constexpr std::size_t kMostSamples = 10'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The subjects of a row, and their samples on rank 0.
class Samples {
 public:
  Samples(const Stand& stand, const Task& task, const Plan& plan)
      : stand_(stand), task_(task), subjects_{make_oriel(stand, task), {}, {}} {
    if (plan.floor) subjects_[1] = make_floor(stand, task);
    if (plan.mpi) subjects_[2] = make_mpi(stand, task);
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      if (subjects_[i]) order_.push_back(i);
    }
  }

  /// Seconds for one operation. Collective; the value is rank 0's.
  double sample(std::size_t subject, std::size_t times) {
    const bool takes_part = info(task_.operation).is_collective || stand_.rank() == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = Clock::now();
    if (takes_part) subjects_[subject](times);
    return seconds_since(start) / static_cast<double>(times);
  }
  /// One of each, in all orders by turns: who comes first, or behind whom, finds other things in
  /// the caches. (The floor beside itself, always in one order: 1.06.) Collective.
  void take(std::size_t times) {
    for (const std::size_t i : order_) values_[i].push_back(sample(i, times));
    std::ranges::next_permutation(order_);
  }
  /// How many operations a sample has, on all ranks. Collective.
  std::size_t calibrate() {
    for (const std::size_t i : order_) static_cast<void>(sample(i, 3));  // connects, touches memory
    std::uint64_t times = 1;
    while (times < kMostTimes) {
      double taken = sample(0, times) * static_cast<double>(times);
      MPI_Bcast(&taken, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // so that all leave together
      if (taken >= kSampleSeconds) break;
      times *= 2;
    }
    const Unit unit = info(task_.operation).unit;
    if (unit == Unit::operations) times = std::max<std::uint64_t>(times, kLeastTogether);
    if (unit == Unit::megabytes) {
      times = std::max<std::uint64_t>(times,
                                      std::clamp<std::uint64_t>((4U << 20U) / task_.size, 8, 64));
    }
    return times;
  }
  [[nodiscard]] std::size_t count() const noexcept { return values_[0].size(); }

  [[nodiscard]] Row row(std::size_t times) const {
    Row row{.task = task_, .samples = count(), .times = times};
    const std::vector<double> ours = in_units(0);
    row.oriel = figures(ours, lower_is_better());
    const auto compare = [&](std::size_t other) -> std::optional<Compared> {
      if (values_[other].empty()) return {};
      const std::vector<double> theirs = in_units(other);
      return Compared{figures(theirs, lower_is_better()), ratio(ours, theirs)};
    };
    row.floor = compare(1);
    row.mpi = compare(2);
    return row;
  }

 private:
  [[nodiscard]] bool lower_is_better() const {
    return info(task_.operation).unit == Unit::microseconds;
  }
  [[nodiscard]] std::vector<double> in_units(std::size_t subject) const {
    std::vector<double> values = values_[subject];
    const Unit unit = info(task_.operation).unit;
    for (double& value : values) value = in_unit(unit, value, task_.size);
    return values;
  }

  const Stand& stand_;
  const Task& task_;
  std::array<Subject, 3> subjects_;
  std::vector<std::size_t> order_{};  // those that there are
  std::array<std::vector<double>, 3> values_{};
};

}  // namespace

Row measure(const Stand& stand, const Task& task, const Plan& plan) {
  Samples samples(stand, task, plan);
  const std::size_t times = samples.calibrate();
  const auto start = Clock::now();
  int goes_on = 1;
  while (goes_on != 0) {
    samples.take(times);
    goes_on = samples.count() < kLeastSamples ||
                      (samples.count() < kMostSamples && seconds_since(start) < plan.seconds)
                  ? 1
                  : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return samples.row(times);
}

}  // namespace oriel::bench
