#include "launcher/bench/report.hpp"

#include <cstdio>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace oriel::bench {
namespace {

std::string number(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  return value >= 0.1 ? fmt::format("{:.3f}", value) : fmt::format("{:.4f}", value);
}

std::string ratio_text(const std::optional<Compared>& other) {
  if (!other) return "-";
  const Ratio& ratio = other->ratio;
  return fmt::format("{} ({}-{})", number(ratio.median), number(ratio.low), number(ratio.high));
}

std::string median_text(const std::optional<Compared>& other) {
  return other ? number(other->figures.median) : "-";
}

nlohmann::json figures_json(const Figures& figures, Unit unit) {
  return {{"median", figures.median}, {"p99", figures.p99}, {"unit", to_string(unit)}};
}

nlohmann::json compared_json(const std::optional<Compared>& other, Unit unit) {
  return other ? figures_json(other->figures, unit) : nlohmann::json();
}

nlohmann::json ratio_json(const std::optional<Compared>& other) {
  if (!other) return {};
  const Ratio& ratio = other->ratio;
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
}

/// The points of all subjects of an operation, as blocks that gnuplot reads inline.
std::string data_blocks(std::span<const Row> rows, std::string& curves) {
  std::map<std::string, std::string> blocks;
  for (const Row& row : rows) {
    if (!info(row.task.operation).has_sizes) continue;
    const auto add = [&](std::string_view who, double median) {
      blocks[fmt::format("{} {}", info(row.task.operation).name, who)] +=
          fmt::format("{} {}\n", row.task.size, median);
    };
    add("oriel", row.oriel.median);
    if (row.floor) add("floor", row.floor->figures.median);
    if (row.mpi) add("mpi", row.mpi->figures.median);
  }
  std::string text;
  int count = 0;
  for (const auto& [name, points] : blocks) {
    text += fmt::format("$d{} << END\n{}END\n", count, points);
    curves += fmt::format("{}$d{} using 1:2 with linespoints title \"{}\"",
                          curves.empty() ? "" : ", ", count, name);
    ++count;
  }
  return text;
}

}  // namespace

std::string size_text(std::size_t bytes) {
  if (bytes >= 1U << 20U && bytes % (1U << 20U) == 0) return fmt::format("{} Mi", bytes >> 20U);
  if (bytes >= 1U << 10U && bytes % (1U << 10U) == 0) return fmt::format("{} Ki", bytes >> 10U);
  return fmt::format("{}", bytes);
}

std::string table_head(const Setting& setting) {
  return fmt::format(
      "{} ranks, fabric {}, window {}; medians, and p99 of Oriel's; a ratio is Oriel's\n"
      "value by the other's, with its quartiles\n\n{:<15} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9}  "
      "{:<20} {}\n",
      setting.ranks, setting.fabric, setting.window, "operation", "bytes", "unit", "oriel", "p99",
      "floor", "mpi", "oriel/floor", "oriel/mpi");
}

std::string table_line(const Row& row) {
  const OperationInfo& what = info(row.task.operation);
  return fmt::format("{:<15} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9}  {:<20} {}\n", what.name,
                     what.has_sizes ? size_text(row.task.size) : "-", to_string(what.unit),
                     number(row.oriel.median), number(row.oriel.p99), median_text(row.floor),
                     median_text(row.mpi), ratio_text(row.floor), ratio_text(row.mpi));
}

std::string json_line(const Row& row, const Setting& setting) {
  const OperationInfo& what = info(row.task.operation);
  const nlohmann::ordered_json line = {
      {"op", what.name},
      {"size", row.task.size},
      {"ranks", setting.ranks},
      {"fabric", setting.fabric},
      {"window", setting.window},
      {"oriel", figures_json(row.oriel, what.unit)},
      {"floor", compared_json(row.floor, what.unit)},
      {"mpi", compared_json(row.mpi, what.unit)},
      {"ratio_floor", ratio_json(row.floor)},
      {"ratio_mpi", ratio_json(row.mpi)},
      {"samples", row.samples},
  };
  return line.dump() + "\n";
}

void plot(std::span<const Row> rows, const Setting& setting, const std::string& svg) {
  std::string curves;
  const std::string blocks = data_blocks(rows, curves);
  if (curves.empty())
    throw std::runtime_error("--plot: nothing to draw: no operation that depends on the size");
  std::FILE* const gnuplot = ::popen("gnuplot", "w");
  if (gnuplot == nullptr) throw std::runtime_error("--plot: cannot start gnuplot");
  fmt::print(gnuplot,
             "set terminal svg size 900,600 background 'white'\nset output '{}'\n"
             "set logscale xy\nset key outside\nset grid\nset xlabel 'bytes'\n"
             "set ylabel 'us, Mop/s, MB/s'\nset title '{} ranks, {}, {} window'\n{}plot {}\n",
             svg, setting.ranks, setting.fabric, setting.window, blocks, curves);
  const int status = ::pclose(gnuplot);
  if (status != 0)
    throw std::runtime_error(
        "--plot: gnuplot failed; is it installed (Debian: gnuplot-nox), and the file writable?");
}

}  // namespace oriel::bench
