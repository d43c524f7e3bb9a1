// A location needs a ValueIndex.
// must say: Accumulable
#include <oriel/operations.hpp>

template <class T, class Op>
requires oriel::Accumulable<T, Op>
void accumulate(const T& value, Op op);

void use() {
  accumulate(1, oriel::op::minloc);
}
