// The rank comes before the offset.
// must say: no matching (member )?function
#include <array>
#include <oriel/oriel.hpp>

void use(oriel::Window<double>& window, const std::array<double, 4>& row) {
  window.put(row, 17U, oriel::Rank{1});
}
