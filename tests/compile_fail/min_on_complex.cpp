// Complex numbers have no order.
// must say: Accumulable
#include <complex>
#include <oriel/operations.hpp>

template <class T, class Op>
requires oriel::Accumulable<T, Op>
void accumulate(const T& value, Op op);

void use() {
  accumulate(std::complex<double>(1, 2), oriel::op::min);
}
