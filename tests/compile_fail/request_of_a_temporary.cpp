// The array is gone when the request is waited for.
// must say: deleted
#include <array>
#include <oriel/oriel.hpp>

std::array<double, 4> row();

oriel::Request use(oriel::Window<double>& window) {
  return window.rput(row(), oriel::Rank{0}, 0);
}
