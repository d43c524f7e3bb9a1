// What a get fills must be writable.
// must say: no matching (member )?function
#include <array>
#include <oriel/oriel.hpp>

void use(oriel::Window<double>& window, const std::array<double, 4>& row) {
  window.get(row, oriel::Rank{1}, 0);
}
