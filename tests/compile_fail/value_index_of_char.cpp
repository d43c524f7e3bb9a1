// MPI has no pair of so small a value.
// must say: a value is a signed integer of 2, 4 or 8 bytes
#include <oriel/operations.hpp>

oriel::ValueIndex<signed char> use() {
  return {1, 2};
}
