#pragma once
/// The epochs of a team whose ranks are threads.

#include <gmock/gmock.h>

#include <cstddef>
#include <deque>
#include <numeric>
#include <vector>

#include "sync/exposure.hpp"
#include "unit/sync/ranks.hpp"

namespace oriel::test {

inline std::size_t index_of(int rank) {
  return static_cast<std::size_t>(rank);
}

class Exposures : public Ranks {
 public:
  explicit Exposures(int size) : Ranks(size) {
    for (int rank = 0; rank < size; ++rank) {
      exposures_.emplace_back(words[index_of(rank)], partners(rank), progress[index_of(rank)],
                              vigils[index_of(rank)]);
    }
  }
  [[nodiscard]] sync::Exposure& of(int rank) { return exposures_[index_of(rank)]; }

 private:
  std::deque<sync::Exposure> exposures_;
};

inline std::vector<int> all_of(int size) {
  std::vector<int> ranks(index_of(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

template <class Call>
void expect_error(ErrorCode code, const char* text, Call call) {
  try {
    call();
    ADD_FAILURE() << "expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

}  // namespace oriel::test
