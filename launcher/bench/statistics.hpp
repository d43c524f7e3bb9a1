#pragma once
/// What a series of samples says. Pure.

#include <span>
#include <vector>

namespace oriel::bench {

/// Of the samples of one subject, in the operation's unit.
struct Figures {
  double median = 0;
  double p99 = 0;  ///< what 99 of 100 samples are not worse than
};

/// Oriel's value divided by another's, sample by sample.
struct Ratio {
  double median = 0;
  double low = 0;  ///< the quartiles
  double high = 0;
};

/// @param lower_is_better  says which end the 99th is at. Requires: not empty.
[[nodiscard]] Figures figures(std::vector<double> values, bool lower_is_better);
/// Requires: not empty, equally many.
[[nodiscard]] Ratio ratio(std::span<const double> ours, std::span<const double> theirs);

}  // namespace oriel::bench
