#include <gmock/gmock.h>

#include <cerrno>

#include <oriel/error.hpp>

#include "base/throw_error.hpp"

namespace oriel {
namespace {

TEST(Error, SaysEverythingInOneLine) {
  const Error error(ErrorCode::transport_failed, {.operation = "put",
                                                  .problem = "remote access error",
                                                  .origin = 3,
                                                  .target = 7,
                                                  .target_host = "node2",
                                                  .window = 2,
                                                  .offset_bytes = 4096,
                                                  .length_bytes = 64,
                                                  .work_completion_status = 10,
                                                  .vendor_error = 0x88,
                                                  .device = "mlx5_0 port 1",
                                                  .hint = "target window freed"});
  EXPECT_STREQ(error.what(),
               "put: transport failed: remote access error (status 10), vendor 0x88; mlx5_0 port "
               "1; rank 3 -> 7 "
               "(node2); window 2, offset 4096, 64 bytes; hint: target window freed");
  EXPECT_EQ(error.details().target, 7);
}

TEST(Error, LeavesOutWhatIsNotKnown) {
  const Error error(ErrorCode::out_of_memory, {.operation = "mmap", .system_errno = ENOMEM});
  EXPECT_STREQ(error.what(), "mmap: out of memory: Cannot allocate memory (errno 12)");
}

TEST(Error, IsASystemErrorOfItsOwnCategory) {
  try {
    base::throw_error(ErrorCode::peer_lost, {.operation = "flush"});
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
    EXPECT_STREQ(error.code().category().name(), "oriel");
    EXPECT_NE(error.code(), std::errc::invalid_argument);
  }
}

TEST(Error, EveryCodeHasAText) {
  for (int code = 1; code <= static_cast<int>(ErrorCode::internal); ++code) {
    EXPECT_NE(error_category().message(code), "unknown error") << code;
  }
}

TEST(Error, CopiesShareTheirText) {
  const Error error(ErrorCode::internal, {.operation = "copy"});
  const Error copy = error;  // NOLINT: the copy is what is tested
  EXPECT_EQ(error.what(), copy.what());
}

}  // namespace
}  // namespace oriel
