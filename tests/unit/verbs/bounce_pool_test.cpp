#include "transport/verbs/bounce_pool.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "base/shared_segment.hpp"
#include "fake_verbs/fake_verbs.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {
namespace {

class BouncePoolTest : public ::testing::Test {
 protected:
  BouncePoolTest() {
    fake_verbs::reset();
    int count = 0;
    const DeviceListHandle list(ibv_get_device_list(&count));
    context_.reset(ibv_open_device(*list));
    pd_.reset(ibv_alloc_pd(context_.get()));
  }

  ContextHandle context_;
  PdHandle pd_;
};

TEST_F(BouncePoolTest, HandsOutEverySlotOnceAndThenNone) {
  BouncePool pool(pd_.get());
  std::set<std::byte*> slots;
  while (std::byte* const slot = pool.acquire()) {
    slots.insert(slot);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(slot) % base::page_bytes(), 0U);
  }
  ASSERT_EQ(slots.size(), BouncePool::kSlots);
  EXPECT_EQ(*slots.rbegin() - *slots.begin(),
            static_cast<std::ptrdiff_t>((BouncePool::kSlots - 1) * BouncePool::kSlotBytes));
  EXPECT_EQ(pool.available(), 0U);
}

TEST_F(BouncePoolTest, AReleasedSlotComesBack) {
  BouncePool pool(pd_.get());
  std::byte* const first = pool.acquire();
  std::byte* const second = pool.acquire();
  pool.release(first);
  EXPECT_EQ(pool.acquire(), first);
  pool.release(second);
  pool.release(first);
  EXPECT_EQ(pool.available(), BouncePool::kSlots);
}

TEST_F(BouncePoolTest, IsOneRegistrationAndGoesWithThePool) {
  {
    const BouncePool pool(pd_.get());
    EXPECT_EQ(fake_verbs::live_objects()["ibv_mr"], 1U);
    EXPECT_EQ(fake_verbs::statistics().registered_bytes,
              BouncePool::kSlots * BouncePool::kSlotBytes);
  }
  EXPECT_EQ(fake_verbs::live_objects().count("ibv_mr"), 0U);
}

}  // namespace
}  // namespace oriel::verbs
