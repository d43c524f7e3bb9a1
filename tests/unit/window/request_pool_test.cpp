// The states of requests: used again, but not while a transport still counts in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include <oriel/request.hpp>

#include "support/memory_endpoint.hpp"
#include "window/request_pool.hpp"

namespace oriel::window {
namespace {

class Pool : public testing::Test {
 protected:
  [[nodiscard]] RequestState& acquire() { return pool_.acquire(within_, endpoint_, endpoint_); }

  test::MemoryEndpoint endpoint_;
  transport::Completion within_;
  transport::Progress progress_{{}, nullptr, true};
  RequestPool pool_{progress_};
};

TEST_F(Pool, StatesAreUsedAgain) {
  std::set<RequestState*> states;
  for (int round = 0; round < 3; ++round) {
    std::vector<RequestState*> taken;
    for (int i = 0; i < 2000; ++i) taken.push_back(&acquire());
    EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), 2000U);
    states.insert(taken.begin(), taken.end());
    for (RequestState* state : taken) pool_.release(*state);
  }
  EXPECT_LE(states.size(), 2U * 1024);
}

TEST_F(Pool, NotWhileTheyAreStillCountedIn) {
  RequestState& busy = acquire();
  busy.done.started();
  busy.done.locally_done();
  EXPECT_EQ(within_.remote_pending, 1U);
  pool_.release(busy);  // ended locally
  std::vector<RequestState*> taken;
  for (int i = 0; i < 3000; ++i) taken.push_back(&acquire());
  EXPECT_EQ(std::ranges::count(taken, &busy), 0);
  busy.done.remotely_done();
  EXPECT_EQ(within_.remote_pending, 0U);
  bool found = false;
  for (int i = 0; i < 1024 && !found; ++i) found = &acquire() == &busy;
  EXPECT_TRUE(found) << "was drained and is not used again";
}

TEST_F(Pool, ARequestEndsWithTheFailureOfItsOperation) {
  const Error why(ErrorCode::transport_failed, {.operation = "put"});
  for (const bool remotely : {false, true}) {
    RequestState& state = acquire();
    Request request(&state);
    state.done.started();
    EXPECT_FALSE(request.test());
    EXPECT_FALSE(request.test_remote());
    state.done.failed(why);
    state.done.locally_done();
    state.done.remotely_done();
    EXPECT_THROW(remotely ? request.wait_remote() : request.wait(), Error);
    EXPECT_FALSE(request.valid());
    EXPECT_EQ(within_.failure, &why) << "its window's flush fails, too";
  }
}

TEST_F(Pool, WaitAllEndsAllThoughOneHasFailed) {
  const Error why(ErrorCode::transport_failed, {.operation = "put"});
  std::vector<Request> requests;
  for (int i = 0; i < 3; ++i) requests.emplace_back(&acquire());
  requests[1].state()->done.failed(why);
  EXPECT_THROW(wait_all(requests), Error);
  for (const Request& request : requests) EXPECT_FALSE(request.valid());
}

TEST_F(Pool, WaitAnyPrefersWhatIsComplete) {
  std::vector<Request> requests(1);
  for (int i = 0; i < 3; ++i) requests.emplace_back(&acquire());
  transport::Completion& first = requests[1].state()->done;
  first.started();
  EXPECT_EQ(wait_any(requests), 2U);
  EXPECT_EQ(wait_any(requests), 3U);
  first.locally_done();
  first.remotely_done();
  EXPECT_EQ(wait_any(requests), 1U);
  EXPECT_THROW((void)wait_any(requests), Error);
}

}  // namespace
}  // namespace oriel::window
