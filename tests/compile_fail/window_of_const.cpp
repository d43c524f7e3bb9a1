// A window is written to by everybody.
// must say: a window's elements travel as bytes: T must be trivially copyable and not const
#include <array>
#include <oriel/oriel.hpp>

void use(const oriel::Team& team, const std::array<double, 4>& numbers) {
  auto window = oriel::Window<const double>::create(team, numbers);
}
