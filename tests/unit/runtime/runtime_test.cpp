// The start of a job, with ranks as threads.

#include <gmock/gmock.h>

#include <oriel/oriel.hpp>

#include "bootstrap/single_process.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

using testing::HasSubstr;

TEST(Runtime, OneProcessAloneIsAJob) {
  const Runtime job(std::make_unique<runtime::RuntimeState>(
      std::make_unique<bootstrap::SingleProcess>(), std::vector<std::string>{}));
  EXPECT_EQ(job.world().size(), 1);
  EXPECT_EQ(job.node().size(), 1);
  auto window = Window<int>::allocate(job.world(), 3);
  window.put(7, Rank{0}, 1);
  window.fence();
  EXPECT_EQ(window.local()[1], 7);
}

TEST(Runtime, TellsWhatItChose) {
  test::run_ranks(2, {}, [](Runtime& job) {
    const std::string text = job.describe();
    EXPECT_THAT(text, HasSubstr("of 2"));
    EXPECT_THAT(text, HasSubstr("shared memory alone"));
    EXPECT_THAT(text, HasSubstr("machine: "));
    EXPECT_THAT(text, HasSubstr("placement: "));
  });
}

TEST(Runtime, AWrongOptionThrowsOnEveryRank) {
  try {
    test::run_ranks(3, {"ORIEL_FABRIC=fast"}, [](Runtime&) { ADD_FAILURE() << "started"; });
    ADD_FAILURE() << "threw nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
  }
}

TEST(Team, SplitsByColorAndOrdersByKey) {
  test::run_ranks(5, {}, [](Runtime& job) {
    const Team& world = job.world();
    const int me = world.rank();
    const Team half = world.split(me % 2, -me);
    EXPECT_EQ(half.size(), me % 2 == 0 ? 3 : 2);
    // Keys are reversed: the highest world rank comes first.
    EXPECT_EQ(half.world_rank(Rank{0}), me % 2 == 0 ? 4 : 3);
    EXPECT_EQ(half.world_rank(half.rank()), me);
    const Team alone = world.split(-1 - me);
    EXPECT_EQ(alone.size(), 1);
    auto window = Window<int>::allocate(half, 1);
    window.put(me, Rank{(half.rank() + 1) % half.size()}, 0);
    window.fence();
    EXPECT_EQ(window.local()[0],
              half.world_rank(Rank{(half.rank() + half.size() - 1) % half.size()}));
  });
}

}  // namespace
}  // namespace oriel
