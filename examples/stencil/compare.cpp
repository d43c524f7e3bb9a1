#include "stencil/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "stencil/blocks.hpp"
#include "stencil/halo.hpp"
#include "stencil/mpi_exchange.hpp"
#include "stencil/report.hpp"
#include "stencil/step_times.hpp"

namespace stencil {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRounds = 41;
constexpr double kRoundSeconds = 2e-3;
constexpr std::size_t kMostExchanges = 10'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A way of exchanging, its blocks, and the step it has come to.
struct Contender {
  std::string name;
  std::function<void(std::size_t)> exchange;
  std::function<BlockView(std::size_t)> block;
  std::size_t step = 0;
  std::vector<double> seconds{};  ///< for one exchange, in each round

  double run(const oriel::Team& world, std::size_t exchanges) {
    world.barrier();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < exchanges; ++i) exchange(step++);
    return seconds_since(start) / static_cast<double>(exchanges);
  }
};

/// A value that no other cell has.
double mark(const Block& block, const Extent& extent, std::size_t x, std::size_t y) {
  return static_cast<double>((block.y.begin + y) * extent.nx + block.x.begin + x + 1);
}

void mark_cells(const BlockView& view, const Block& block, const Extent& extent) {
  for (std::size_t y = 0; y < view.height; ++y) {
    for (std::size_t x = 0; x < view.width; ++x) view.inner_row(y)[x] = mark(block, extent, x, y);
  }
}

/// Whether the ghost cells of this rank are the marked edges of the neighbours.
std::string check_ghosts(const BlockView& view, const RankGrid& grid, const Extent& extent,
                         int rank) {
  for (const Side side : kSides) {
    const auto other = neighbour(grid, rank, side);
    if (!other) continue;
    const Block its = block_of(grid, extent, *other);
    const bool vertical = side == Side::west || side == Side::east;
    for (std::size_t i = 0; i < (vertical ? view.height : view.width); ++i) {
      const std::size_t x = side == Side::west ? its.x.size - 1 : side == Side::east ? 0 : i;
      const std::size_t y = side == Side::north ? its.y.size - 1 : side == Side::south ? 0 : i;
      const double* const ghost = vertical
                                      ? view.row(i + 1) + (side == Side::west ? 0 : view.width + 1)
                                      : view.row(side == Side::north ? 0 : view.height + 1) + i + 1;
      if (*ghost == mark(its, extent, x, y)) continue;
      return fmt::format("rank {}: cell {} of the edge of rank {} is {}, not {}", rank, i, *other,
                         *ghost, mark(its, extent, x, y));
    }
  }
  return {};
}

/// All contenders, and what they work on. Collective to create and destroy.
class Contestants {
 public:
  Contestants(const oriel::Team& world, const RankGrid& grid, const Extent& extent)
      : blocks_(world, grid, extent) {
    for (const Sync sync : {Sync::notify, Sync::pscw, Sync::fence, Sync::lock}) {
      halos_.push_back(make_halo(sync, blocks_));
      all_.push_back({fmt::format("oriel, {}", to_string(sync)),
                      [halo = halos_.back().get()](std::size_t step) { halo->exchange(step); },
                      [this](std::size_t step) { return blocks_.block(step); }});
    }
    add("mpi, isend/irecv", make_two_sided(grid, extent));
    add("mpi rma, fence", make_rma_fence(grid, extent));
    add("mpi rma, pscw", make_rma_pscw(grid, extent));
  }
  [[nodiscard]] std::vector<Contender>& all() noexcept { return all_; }

 private:
  void add(const char* name, std::unique_ptr<MpiExchange> exchange) {
    all_.push_back({name, [by = exchange.get()](std::size_t step) { by->exchange(step); },
                    [by = exchange.get()](std::size_t step) { return by->block(step); }});
    exchanges_.push_back(std::move(exchange));
  }

  Blocks blocks_;
  std::vector<std::unique_ptr<Halo>> halos_;
  std::vector<std::unique_ptr<MpiExchange>> exchanges_;
  std::vector<Contender> all_;
};

/// As many exchanges as take the time of a round, the same on all ranks.
std::size_t exchanges_in_a_round(const oriel::Team& world, Contender& first) {
  constexpr std::size_t kTrial = 20;
  const double each = first.run(world, kTrial);
  auto exchanges = static_cast<std::uint64_t>(kRoundSeconds / std::max(each, 1e-9)) + 1;
  world.broadcast(exchanges, oriel::Rank{0});
  return std::min<std::size_t>(exchanges, kMostExchanges);
}

Contest conclude(const Contender& one, const Contender& first, std::string trouble) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.seconds.size(); ++i) {
    ratios.push_back(one.seconds[i] / first.seconds[i]);
  }
  return {one.name, median(one.seconds), median(ratios), std::move(trouble)};
}

}  // namespace

std::vector<Contest> compare_exchanges(const oriel::Team& world, const RankGrid& grid,
                                       const Extent& extent) {
  Contestants contestants(world, grid, extent);
  const Block mine = block_of(grid, extent, world.rank());
  std::vector<std::string> troubles;
  for (Contender& one : contestants.all()) {
    for (const std::size_t step : {0U, 1U}) mark_cells(one.block(step), mine, extent);
    world.barrier();
    static_cast<void>(one.run(world, 2));
    std::string trouble = check_ghosts(one.block(0), grid, extent, world.rank());
    if (trouble.empty()) trouble = check_ghosts(one.block(1), grid, extent, world.rank());
    troubles.push_back(std::move(trouble));
  }
  const std::size_t exchanges = exchanges_in_a_round(world, contestants.all().front());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (Contender& one : contestants.all()) one.seconds.push_back(one.run(world, exchanges));
  }
  std::vector<Contest> contests;
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    contests.push_back(
        conclude(contestants.all()[i], contestants.all().front(), std::move(troubles[i])));
  }
  return contests;
}

std::string format_contests(const std::vector<Contest>& contests) {
  std::string text = fmt::format("{:<20}{:>12}{:>10}\n", "exchange of edges", "median", "ratio");
  for (const Contest& one : contests) {
    text += fmt::format("{:<20}{:>12}{:>10.2f}\n", one.name, format_seconds(one.median), one.ratio);
  }
  return text;
}

}  // namespace stencil
