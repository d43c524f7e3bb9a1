/// Layouts: a matrix that lies in bands of rows on all ranks is transposed, one put per rank, and
/// nobody packs anything.
///
///     mpirun -n 4 ./07_strided

#include <cstddef>
#include <cstdio>
#include <oriel/oriel.hpp>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const auto me = static_cast<std::size_t>(int{world.rank()});
  const auto ranks = static_cast<std::size_t>(world.size());

  constexpr std::size_t kBand = 5;         // rows of each rank
  const std::size_t side = kBand * ranks;  // rows and columns of the matrix
  const auto value = [side](std::size_t row, std::size_t column) {
    return static_cast<double>(row * side + column);
  };

  std::vector<double> matrix;  // my band
  for (std::size_t row = me * kBand; row < (me + 1) * kBand; ++row) {
    for (std::size_t column = 0; column < side; ++column) matrix.push_back(value(row, column));
  }

  // My band consists of squares, one for each rank. In it, the elements of a column are `side`
  // apart, and those of a row 1: named column by column,
  const auto by_columns = oriel::Layout::strided(1, {{kBand, 1}, {kBand, side}});
  // they are the rows of a square in the target's band, which are `side` apart.
  const auto by_rows = oriel::Layout::strided(kBand, {{kBand, side}});

  auto transposed = oriel::Window<double>::allocate(world, kBand * side);
  for (std::size_t target = 0; target < ranks; ++target) {
    const auto square = std::span(matrix).subspan(target * kBand);
    transposed.put(square, by_columns, oriel::Rank{static_cast<int>(target)}, me * kBand, by_rows);
  }
  transposed.fence();

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kBand * side; ++i) {
    if (transposed.local()[i] != value(i % side, me * kBand + i / side)) ++wrong;
  }
  std::printf("rank %zu: %zu of %zu elements are wrong\n", me, wrong, kBand * side);
  return wrong == 0 ? 0 : 1;
}
