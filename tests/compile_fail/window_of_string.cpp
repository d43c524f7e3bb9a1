// Bytes of a std::string mean nothing in another process.
// must say: a window's elements travel as bytes: T must be trivially copyable and not const
#include <oriel/oriel.hpp>
#include <string>

void use(const oriel::Team& team) {
  auto window = oriel::Window<std::string>::allocate(team, 1);
}
