#include "launcher/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace oriel::bench {
namespace {

/// A value that sorts behind this share of the others. Requires: sorted, not empty.
double quantile(std::span<const double> sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

}  // namespace

Figures figures(std::vector<double> values, bool lower_is_better) {
  std::ranges::sort(values);
  return {quantile(values, 0.5), quantile(values, lower_is_better ? 0.99 : 0.01)};
}

Ratio ratio(std::span<const double> ours, std::span<const double> theirs) {
  std::vector<double> all;
  for (std::size_t i = 0; i < ours.size(); ++i) all.push_back(ours[i] / theirs[i]);
  std::ranges::sort(all);
  return {quantile(all, 0.5), quantile(all, 0.25), quantile(all, 0.75)};
}

}  // namespace oriel::bench
