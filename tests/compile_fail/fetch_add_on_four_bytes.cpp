// The hardware adds 8 bytes at a time, not 4.
// must say: FetchAddable
#include <oriel/oriel.hpp>

int use(oriel::Window<int>& window) {
  return window.fetch_add(1, oriel::Rank{0}, 0);
}
