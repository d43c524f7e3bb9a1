#pragma once
/// Rows for people, for programs, and as a picture.

#include <span>
#include <string>

#include "launcher/bench/measurement.hpp"

namespace oriel::bench {

/// What all rows have in common.
struct Setting {
  int ranks = 1;
  std::string fabric{};
  std::string window{};
};

[[nodiscard]] std::string table_head(const Setting& setting);
[[nodiscard]] std::string table_line(const Row& row);
/// One object, with the end of the line.
[[nodiscard]] std::string json_line(const Row& row, const Setting& setting);
/// Draws what depends on the size, by gnuplot. Errors: std::runtime_error, with what to install.
void plot(std::span<const Row> rows, const Setting& setting, const std::string& svg);

/// "8", "64 Ki", "1 Mi"
[[nodiscard]] std::string size_text(std::size_t bytes);

}  // namespace oriel::bench
