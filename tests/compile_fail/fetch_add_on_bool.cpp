// Truths have the logical operations; there is no sum of them.
// must say: Accumulable
#include <oriel/oriel.hpp>

bool use(oriel::Window<bool>& window) {
  return window.fetch_add(true, oriel::Rank{0}, 0);
}
