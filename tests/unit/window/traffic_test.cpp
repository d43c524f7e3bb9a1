#include "window/traffic.hpp"

#include <gtest/gtest.h>

#include <forward_list>
#include <vector>

namespace oriel::window {
namespace {

class TrafficOf : public testing::Test {
 protected:
  /// Flushes as a window does: what has been posted so far is done.
  void flush(Peer& peer) {
    Pending& pending = way_.pending(peer);
    pending.flushed.store(pending.posted.load());
    ++flushes_;
  }
  void flush_all() {
    way_.flush_each([this](Peer& peer) { flush(peer); });
  }

  void meet(Peer& peer) { way_.meet(peer.pending, nullptr); }
  void SetUp() override {
    for (Peer& peer : peers_) meet(peer);
  }

  transport::Progress turns_{{}, nullptr, true};
  Traffic way_{turns_, nullptr, 0};
  std::forward_list<Peer> peers_{8};
  Peer& peer_ = peers_.front();
  int flushes_ = 0;
};

TEST_F(TrafficOf, NothingNeedsNoFlush) {
  EXPECT_FALSE(way_.is_touched());
  EXPECT_FALSE(peer_.pending.needs_flush());
  flush_all();
  EXPECT_EQ(flushes_, 0);
}

TEST_F(TrafficOf, AnOperationNeedsOneFlush) {
  { const Traffic::Operation operation(way_, peer_); }
  EXPECT_TRUE(way_.is_touched());
  EXPECT_TRUE(peer_.pending.needs_flush());
  flush_all();
  EXPECT_EQ(flushes_, 1);
  EXPECT_FALSE(way_.is_touched());
  EXPECT_FALSE(peer_.pending.needs_flush());
}

// A call that waits for room lets other threads in. What it posts after their flush is for the next
// one.
TEST_F(TrafficOf, WhatIsPostedAfterAnotherThreadsFlushIsStillToBeFlushed) {
  { const Traffic::Operation earlier(way_, peer_); }
  {
    const Traffic::Operation operation(way_, peer_);
    flush_all();
  }
  EXPECT_TRUE(peer_.pending.needs_flush());
  EXPECT_TRUE(way_.is_touched());
  flush_all();
  EXPECT_EQ(flushes_, 2);
  EXPECT_FALSE(peer_.pending.needs_flush());
}

TEST_F(TrafficOf, AFlushOfOneTargetLeavesTheOthers) {
  for (Peer& peer : peers_) const Traffic::Operation operation(way_, peer);
  flush(peer_);
  EXPECT_FALSE(peer_.pending.needs_flush());
  int left = 0;
  for (const Peer& peer : peers_) left += peer.pending.needs_flush() ? 1 : 0;
  EXPECT_EQ(left, 7);
  flushes_ = 0;
  flush_all();
  EXPECT_EQ(flushes_, 8);  // who was flushed by itself is asked once more, and has nothing
}

TEST_F(TrafficOf, AFailedFlushFailsAgain) {
  { const Traffic::Operation operation(way_, peer_); }
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(way_.flush_each([](Peer&) { throw Error(ErrorCode::peer_lost, {}); }), Error);
    EXPECT_TRUE(way_.is_touched());
  }
}

// The list has room for all that were met, so that the end of a call never allocates: here others
// fill it while a call is under way.
TEST_F(TrafficOf, ListsGrowWithThoseThatWereMet) {
  std::forward_list<Peer> many(100);
  for (Peer& peer : many) meet(peer);
  {
    const Traffic::Operation operation(way_, peer_);
    flush_all();
    for (Peer& peer : many) const Traffic::Operation other(way_, peer);
  }
  flushes_ = 0;
  flush_all();
  EXPECT_EQ(flushes_, 101);
}

}  // namespace
}  // namespace oriel::window
