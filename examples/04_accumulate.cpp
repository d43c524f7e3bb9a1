/// Accumulate: all ranks add to the same elements at the same time, and nothing is lost.
///
///     mpirun -n 4 ./04_accumulate

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <oriel/oriel.hpp>
#include <random>

namespace {

constexpr std::size_t kBins = 10;
constexpr int kThrows = 1000;

/// What one rank has seen: how often its numbers fell into each bin, and its largest number.
struct Sample {
  std::array<long, kBins> counts{};
  oriel::ValueIndex<double> largest{-1, -1};  // and whose it is
};

Sample sample_of(int rank) {
  std::mt19937 random(static_cast<unsigned>(rank));
  Sample sample;
  sample.largest.index = rank;
  for (int i = 0; i < kThrows; ++i) {
    const double number = static_cast<double>(random()) / 4294967296.0;
    ++sample.counts[static_cast<std::size_t>(number * kBins)];
    sample.largest.value = std::max(sample.largest.value, number);
  }
  return sample;
}

}  // namespace

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  constexpr oriel::Rank kKeeper{0};
  const bool keeps = world.rank() == kKeeper;

  auto histogram = oriel::Window<long>::allocate(world, keeps ? kBins : 0);
  auto largest = oriel::Window<oriel::ValueIndex<double>>::allocate(world, keeps ? 1 : 0);

  const Sample mine = sample_of(world.rank());
  histogram.accumulate(mine.counts, kKeeper, 0, oriel::op::sum);  // element by element
  largest.accumulate(mine.largest, kKeeper, 0, oriel::op::maxloc);
  histogram.fence();
  largest.fence();  // everybody's have arrived

  if (!keeps) return 0;
  // The same by one rank alone. Sums of integers do not depend on who came first.
  Sample all;
  for (int rank = 0; rank < world.size(); ++rank) {
    const Sample sample = sample_of(rank);
    for (std::size_t bin = 0; bin < kBins; ++bin) all.counts[bin] += sample.counts[bin];
    if (sample.largest.value > all.largest.value) all.largest = sample.largest;
  }
  const oriel::ValueIndex<double> found = largest.local()[0];
  const bool right = std::ranges::equal(histogram.local(), all.counts) && found == all.largest;
  for (const long count : histogram.local()) std::printf("%ld ", count);
  std::printf("; the largest, %f, is of rank %d: %s\n", found.value, found.index,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}
