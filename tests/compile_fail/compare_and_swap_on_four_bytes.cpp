// The hardware compares 8 bytes at a time, not 4.
// must say: Swappable
#include <oriel/oriel.hpp>

int use(oriel::Window<int>& window) {
  return window.compare_and_swap(1, 2, oriel::Rank{0}, 0);
}
