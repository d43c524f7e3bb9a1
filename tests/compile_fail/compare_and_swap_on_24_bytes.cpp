// What is compared at once has 16 bytes at most.
// must say: Swappable
#include <oriel/oriel.hpp>

struct Vector {
  double x, y, z;
};

Vector use(oriel::Window<Vector>& window) {
  return window.compare_and_swap({}, {1, 2, 3}, oriel::Rank{0}, 0);
}
