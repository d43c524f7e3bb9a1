// Adding has a meaning for numbers alone.
// must say: Accumulable
#include <oriel/oriel.hpp>

struct Particle {
  double mass;
  int kind;
};

Particle use(oriel::Window<Particle>& window, const Particle& value) {
  return window.fetch_add(value, oriel::Rank{0}, 0);
}
