// Buffers hold bytes that travel, as windows do.
// must say: a Buffer holds bytes that travel as they are
#include <oriel/oriel.hpp>
#include <string>

void use(const oriel::Runtime& job) {
  const oriel::Buffer<std::string> buffer(job, 1);
}
