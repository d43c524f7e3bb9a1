// B176: operations do not allocate, whatever describes their data. Counts what this thread takes
// from the heap.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "helpers.hpp"
#include "support/counted_heap.hpp"

namespace oriel::test {
namespace {

struct Triple {
  double a, b, c;
};

class Heap : public BothKinds {
 protected:
  /// Once everything that is kept for later has been made.
  static void expect_no_allocations(const std::string& name, const std::function<void()>& call) {
    for (int warm_up = 0; warm_up < 3; ++warm_up) call();
    const int rounds = scaled(40);
    const long before = heap::allocations;
    for (int round = 0; round < rounds; ++round) call();
    EXPECT_EQ(heap::allocations - before, 0) << rounds << " rounds of " << name;
  }
};

TEST_P(Heap, IsNotTouchedByOperations) {
  constexpr std::size_t kCount = 64;
  Exposed<Triple> triples(world(), GetParam(), 4 * kCount);
  Exposed<double> doubles(world(), GetParam(), 4 * kCount);
  const std::vector<Triple> values(2 * kCount);
  const std::vector<double> terms(2 * kCount);
  std::vector<Triple> seen(2 * kCount);
  auto& window = doubles.window;
  auto& structures = triples.window;
  std::vector<std::size_t> places(kCount);
  for (std::size_t i = 0; i < kCount; ++i) places[i] = 2 * i;
  double old = 0;
  EXPECT_GT(heap::allocations, 0) << "nothing is counted";
  expect_no_allocations("put", [&] {
    structures.put(Triple{1, 2, 3}, right(), 5);
    structures.put(values, right(), 0);
    structures.flush(right());
  });
  expect_no_allocations("put and get by fresh layouts", [&] {
    const auto apart = Layout::strided(1, {{kCount, 2}});
    structures.put(values, apart, right(), 0, Layout::indexed(1, places));
    structures.get(seen, apart, right(), 0, Layout::strided(2, {{kCount / 2, 4}}));
    structures.flush_all();
  });
  expect_no_allocations("requests", [&] {
    structures.rput(values, right(), 0).wait_remote();
    structures.rget(seen, right(), 0).wait();
  });
  expect_no_allocations("accumulate", [&] {
    window.accumulate(terms, right(), 0, op::sum);
    window.accumulate(terms, Layout::strided(1, {{kCount, 2}}), right(), 0,
                      Layout::indexed(1, places), op::max);
    old = window.fetch_add(old, right(), 3);
    window.flush(right());
  });
  expect_no_allocations("fence and notification", [&] {
    window.fence();
    window.put_notify(terms, right(), 0, 1);
    window.wait_notify(1);
  });
  window.fence();
  structures.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Heap, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
