#include "transport/verbs/registered_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fake_verbs/fake_verbs.hpp"
#include "verbs_pair.hpp"

namespace oriel::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RegistrationError, ALowLimitIsNamedWithTheNeedAndHowToRaiseIt) {
  const Error error =
      registration_error(ENOMEM, 1U << 20U, {.limit_bytes = 65536, .may_exceed = false}, "expose");
  EXPECT_EQ(error.code(), ErrorCode::locked_memory_limit);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("1048576 bytes"), HasSubstr("65536 bytes may be locked"),
                    HasSubstr("ulimit -l unlimited"), HasSubstr("/etc/security/limits.d"),
                    HasSubstr("LimitMEMLOCK=infinity"), HasSubstr("--ulimit memlock=-1")));
}

TEST(RegistrationError, TheLimitIsNotBlamedWhenItDoesNotHold) {
  for (const LockingRights& rights :
       {LockingRights{}, LockingRights{.limit_bytes = 65536, .may_exceed = true}}) {
    const Error error = registration_error(ENOMEM, 1U << 20U, rights, "expose");
    EXPECT_EQ(error.code(), ErrorCode::registration_failed);
    EXPECT_THAT(error.what(), HasSubstr("max_mr"));
  }
}

TEST(RegistrationError, UnmappedMemoryIsTheCallersMistake) {
  const Error error = registration_error(EFAULT, 4096, {}, "expose");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error.what(), HasSubstr("not all mapped, or not writable"));
}

TEST(RegisteredMemory, PeersGetAddressLengthAndKey) {
  fake_verbs::reset();
  VerbsPair pair(4096);
  const auto& region = pair.exposed[0]->descriptor();
  EXPECT_EQ(region.address, std::bit_cast<std::uintptr_t>(pair.memory[0].data()));
  EXPECT_EQ(region.length, 4096U);
  const auto peer = pair.ranks[1]->attach(0, region);
  EXPECT_EQ(peer->mapped(), nullptr);
  EXPECT_EQ(peer->base().address, region.address);
  EXPECT_EQ(peer->base().key, region.key);
}

TEST(RegisteredMemory, NothingIsExposedByNoBytes) {
  fake_verbs::reset();
  VerbsPair pair(4096);
  const auto before = fake_verbs::statistics().registrations;
  const auto nothing = pair.ranks[0]->expose({});
  EXPECT_EQ(nothing->descriptor().length, 0U);
  EXPECT_EQ(fake_verbs::statistics().registrations, before);
}

TEST(RegisteredMemory, AFailedRegistrationThrowsAndLeavesNothing) {
  fake_verbs::reset();
  VerbsPair pair(4096);
  const auto before = fake_verbs::live_objects();
  std::vector<std::byte> more(4096);
  fake_verbs::fail("ibv_reg_mr", EFAULT);
  EXPECT_THROW(static_cast<void>(pair.ranks[0]->expose({.bytes = more, .segment = nullptr})),
               Error);
  EXPECT_EQ(fake_verbs::live_objects(), before);
  EXPECT_NO_THROW(static_cast<void>(pair.ranks[0]->expose({.bytes = more, .segment = nullptr})));
}

}  // namespace
}  // namespace oriel::verbs
