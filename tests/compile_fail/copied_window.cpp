// A window has one owner.
// must say: deleted (function|copy constructor)
#include <oriel/oriel.hpp>

void use(const oriel::Window<double>& window) {
  auto copy = window;
}
