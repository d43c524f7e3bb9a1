// The vector is gone when the transfer may still read it.
// must say: deleted
#include <oriel/oriel.hpp>
#include <vector>

std::vector<double> row();

void use(oriel::Window<double>& window) {
  window.put(row(), oriel::Rank{0}, 0);
}
