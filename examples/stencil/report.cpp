#include "stencil/report.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

namespace stencil {
namespace {

constexpr std::size_t kBarCells = 40;

template <std::size_t N>
std::string with_unit(double value, double factor, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  while (value >= factor && unit + 1 < units.size()) {
    value /= factor;
    ++unit;
  }
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, units[unit]);
}

}  // namespace

double StepTimes::median() const {
  return steps_.empty() ? 0 : static_cast<double>(stencil::median(steps_));
}

bool output_is_terminal() {
  if (::isatty(STDOUT_FILENO) != 1) return false;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return true;
  // Open MPI's mpirun gives its ranks terminals of its own making even when it writes to a file.
  // The user's terminal, if there is one, is what mpirun writes to.
  const std::string output = fmt::format("/proc/{}/fd/1", ::getppid());
  const int fd = ::open(output.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_terminal = ::isatty(fd) == 1;
  ::close(fd);
  return is_terminal;
}

std::string bar_line(std::size_t percent) {
  const std::size_t full = kBarCells * std::min<std::size_t>(percent, 100) / 100;
  return fmt::format("[{}{}] {:3} %", std::string(full, '#'), std::string(kBarCells - full, '.'),
                     percent);
}

ProgressBar::~ProgressBar() {
  if (!shown_) return;
  fmt::print("\r\033[K");  // back, and erase the line
  std::ignore = std::fflush(stdout);
}

void ProgressBar::update(std::size_t done) {
  if (!shown_) return;
  const std::size_t percent = 100 * done / steps_;
  if (percent == percent_) return;  // at most a hundred writes, however many steps
  percent_ = percent;
  fmt::print("\r{}", bar_line(percent));
  std::ignore = std::fflush(stdout);
}

std::string format_seconds(double seconds) {
  return with_unit(seconds * 1e9, 1000, std::array{" ns", " us", " ms", " s"});
}

std::string format_bytes(std::size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return with_unit(static_cast<double>(bytes), 1024, std::array{" B", " KiB", " MiB", " GiB"});
}

std::string format_count(double count) {
  return with_unit(count, 1000, std::array{"", " k", " M", " G", " T"});
}

std::string summarise_fabrics(const std::vector<std::string>& peer_fabrics) {
  std::map<std::string, std::size_t> peers;
  for (const auto& fabric : peer_fabrics) ++peers[fabric];
  std::string text;
  for (const auto& [fabric, count] : peers) {
    text += fmt::format("{}{}: {} peer{}", text.empty() ? "" : ", ", fabric, count,
                        count == 1 ? "" : "s");
  }
  return text.empty() ? "none needed (one rank)" : text;
}

std::string format_summary(const Summary& summary) {
  const StepTimes& times = summary.times;
  const auto steps = static_cast<double>(std::max<std::size_t>(times.count(), 1));
  const double exchange = times.exchange_total() / steps;
  const double compute = (times.total() - times.exchange_total()) / steps;
  const double cells = static_cast<double>(summary.extent.nx * summary.extent.ny);
  const double rate =
      times.total() > 0 ? cells * static_cast<double>(times.count()) / times.total() : 0;

  std::string text;
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<14}{}\n", label, value);
  };
  line("grid",
       fmt::format("{} x {} cells, {} steps", summary.extent.nx, summary.extent.ny, times.count()));
  line("ranks", fmt::format("{} ({} x {})", summary.grid.columns * summary.grid.rows,
                            summary.grid.columns, summary.grid.rows));
  line("fabric", summarise_fabrics(summary.peer_fabrics));
  line("sync", std::string(to_string(summary.sync)));
  line("time per step",
       fmt::format("{} median; mean: exchange {}, compute {}", format_seconds(times.median()),
                   format_seconds(exchange), format_seconds(compute)));
  line("halo",
       fmt::format("{} per step, all ranks together",
                   format_bytes(sizeof(double) * halo_cells(summary.grid, summary.extent))));
  line("speed", fmt::format("{} cells/s", format_count(rate)));
  return text;
}

}  // namespace stencil
