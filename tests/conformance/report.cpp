#include "conformance/report.hpp"

#include <fmt/format.h>

namespace oriel::conformance {

void Report::skipped(const Row& row, const std::string& why, std::size_t how_many) {
  if (how_many == 0) return;
  counts_[row].skipped += how_many;
  reasons_[why] += how_many;
}

std::size_t Report::run() const {
  std::size_t sum = 0;
  for (const auto& [row, counts] : counts_) sum += counts.run;
  return sum;
}

std::size_t Report::failed() const {
  std::size_t sum = 0;
  for (const auto& [row, counts] : counts_) sum += counts.failed;
  return sum;
}

std::string Report::table() const {
  std::string text = fmt::format("{:<30} {:<10} {:<11} {:>9} {:>7} {:>9}\n", "family", "window",
                                 "placement", "run", "failed", "skipped");
  for (const auto& [row, counts] : counts_) {
    text += fmt::format("{:<30} {:<10} {:<11} {:>9} {:>7} {:>9}\n", row.family, row.window,
                        row.placement, counts.run, counts.failed, counts.skipped);
  }
  for (const auto& [why, count] : reasons_) text += fmt::format("skipped {}: {}\n", count, why);
  return text;
}

}  // namespace oriel::conformance
