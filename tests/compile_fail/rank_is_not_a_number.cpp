// A plain number is no rank: rank and offset cannot change places unnoticed.
// must say: no matching (member )?function
#include <array>
#include <oriel/oriel.hpp>

void use(oriel::Window<double>& window, const std::array<double, 4>& row) {
  window.put(row, 0, 1);
}
