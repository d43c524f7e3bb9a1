// A value with its place can be compared, not added.
// must say: Accumulable
#include <oriel/operations.hpp>

template <class T, class Op>
requires oriel::Accumulable<T, Op>
void accumulate(const T& value, Op op);

void use() {
  accumulate(oriel::ValueIndex<double>{1.0, 2}, oriel::op::sum);
}
