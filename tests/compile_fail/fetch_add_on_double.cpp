// The hardware adds integers.
// must say: FetchAddable
#include <oriel/oriel.hpp>

double use(oriel::Window<double>& window) {
  return window.fetch_add(1.0, oriel::Rank{0}, 0);
}
