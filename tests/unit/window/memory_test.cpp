// What a window of many ranks keeps in each: taken from the heap while it is made, by a rank whose
// peers are all far.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/counted_heap.hpp"
#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

enum class Kind { allocated, created };

/// Bytes that one more window of so many ranks takes in the first of them.
long bytes_of_window(int ranks, Kind kind) {
  fake_verbs::reset();
  long bytes = 0;
  const std::vector<std::string> environment = {"ORIEL_FABRIC=verbs", "ORIEL_LOG=error"};
  test::run_ranks(ranks, environment, [&](Runtime& job) {
    std::vector<std::uint64_t> memory(64);
    const auto make = [&] {
      return kind == Kind::allocated ? Window<std::uint64_t>::allocate(job.world(), 64)
                                     : Window<std::uint64_t>::create(job.world(), memory);
    };
    auto first = make();  // what all windows share is there then
    first.fence();        // and the connections
    job.world().barrier();
    const long before = test::heap::held;
    auto window = make();
    if (job.world().rank() == 0) bytes = test::heap::held - before;
    window.fence();
  });
  return bytes;
}

class MemoryOf : public testing::TestWithParam<Kind> {};

TEST_P(MemoryOf, AWindowIsSmallForThoseThatAreNeverTalkedTo) {
  // In teams of either size a rank has ten partners in the fence, and has so met ten.
  constexpr int kFew = 34;
  constexpr int kMany = 48;
  const long alone = bytes_of_window(1, GetParam());
  const long few = bytes_of_window(kFew, GetParam());
  const long many = bytes_of_window(kMany, GetParam());
  const long per_peer = (many - few) / (kMany - kFew);
  const long per_partner = (few - alone - kFew * per_peer) / 10;
  std::printf("%ld bytes, %ld more for each peer, and %ld for each that was met\n", alone, per_peer,
              per_partner);
  RecordProperty("bytes_fixed", std::to_string(alone));
  RecordProperty("bytes_per_peer", std::to_string(per_peer));
  RecordProperty("bytes_per_peer_met", std::to_string(per_partner));
  EXPECT_LE(alone, 4096);
  EXPECT_LE(per_peer, 64);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryOf, testing::Values(Kind::allocated, Kind::created));

}  // namespace
}  // namespace oriel
