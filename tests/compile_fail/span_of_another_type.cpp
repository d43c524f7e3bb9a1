// Four floats are no four doubles.
// must say: no matching (member )?function
#include <array>
#include <oriel/oriel.hpp>
#include <span>

void use(oriel::Window<double>& window, const std::array<float, 4>& row) {
  window.put(std::span<const float>(row), oriel::Rank{1}, 0);
}
