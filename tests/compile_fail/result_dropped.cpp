// A window that nobody keeps is freed at once.
// must say: nodiscard
#include <oriel/oriel.hpp>

void use(const oriel::Team& team) {
  oriel::Window<double>::allocate(team, 1);
}
