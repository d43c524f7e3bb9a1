// The control: the same calls, made rightly, must compile.
#include <array>
#include <cstdint>
#include <oriel/oriel.hpp>
#include <span>
#include <utility>

double use(const oriel::Runtime& job, std::array<double, 4>& row, std::span<float> floats) {
  const oriel::Team& team = job.world();
  auto window = oriel::Window<double>::create(team, row);
  auto counters = oriel::Window<std::int64_t>::allocate(team, 1);
  auto singles = oriel::Window<float>::allocate(team, 4);
  auto small = oriel::Window<std::int32_t>::allocate(team, 4);
  const oriel::Buffer<double> buffer(job, 4);
  window.put(row, oriel::Rank{0}, 1);
  window.put(buffer.span(), oriel::Rank{1}, 17U);
  window.get(row, oriel::Rank{1}, 0);
  singles.put(floats, oriel::Rank{1}, 0);
  row[0] = window.fetch_add(1.0, oriel::Rank{0}, 0);
  small.fetch_add(1, oriel::Rank{0}, 0);
  const std::int32_t narrow = small.compare_and_swap(1, 2, oriel::Rank{0}, 0);
  const std::int64_t old = counters.fetch_add(1, oriel::Rank{0}, 0);
  const auto moved = std::move(window);
  return narrow + static_cast<double>(counters.compare_and_swap(old, 2, oriel::Rank{0}, 0)) +
         moved.local()[0];
}
