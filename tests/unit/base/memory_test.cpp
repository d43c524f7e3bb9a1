#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <oriel/error.hpp>

#include "base/memory_map.hpp"
#include "base/shared_segment.hpp"

namespace oriel::base {
namespace {

TEST(SharedSegment, IsZeroedAndSharedThroughItsDescriptor) {
  const SharedSegment segment(3 * page_bytes());
  for (const std::byte value : segment.bytes()) ASSERT_EQ(value, std::byte{0});
  const Mapping other = SharedSegment::map_of(::getpid(), segment.fd(), segment.bytes().size());
  ASSERT_NE(other.get(), segment.bytes().data());
  segment.bytes()[5000] = std::byte{42};
  EXPECT_EQ(other.get()[5000], std::byte{42});
}

TEST(SharedSegment, StaysMappedWhenItsDescriptorIsClosed) {
  SharedSegment segment(page_bytes());
  const Mapping other = SharedSegment::map_of(::getpid(), segment.fd(), page_bytes());
  const int fd = segment.fd();
  segment.close_fd();
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  segment.bytes()[0] = std::byte{7};
  EXPECT_EQ(other.get()[0], std::byte{7});
  EXPECT_THROW(static_cast<void>(SharedSegment::map_of(::getpid(), fd, page_bytes())), Error);
}

TEST(SharedSegment, RefusesWhatNoMachineHas) {
  try {
    const SharedSegment segment(std::size_t{1} << 62U);
    ADD_FAILURE() << "was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_EQ(error.details().length_bytes, std::size_t{1} << 62U);
  }
}

TEST(SharedSegment, DoesNotMapMoreThanThereIs) {
  const SharedSegment segment(page_bytes());
  EXPECT_THROW(static_cast<void>(SharedSegment::map_of(::getpid(), segment.fd(), 2 * page_bytes())),
               Error);
}

TEST(WholePages, RoundsUpWithoutWrappingAround) {
  EXPECT_EQ(whole_pages(0), 0U);
  EXPECT_EQ(whole_pages(1), page_bytes());
  EXPECT_EQ(whole_pages(page_bytes()), page_bytes());
  EXPECT_GE(whole_pages(~std::size_t{0} - 5), ~std::size_t{0} - 5);
}

TEST(MemoryMap, SeesHolesAndRightsAnywhereInTheRange) {
  const std::size_t page = page_bytes();
  void* const address =
      ::mmap(nullptr, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(address, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(address);
  EXPECT_TRUE(is_mapped_writable({bytes, 5 * page}));
  EXPECT_TRUE(is_mapped_writable({bytes + 1, 1}));
  ::mprotect(bytes + 2 * page, page, PROT_READ);
  EXPECT_FALSE(is_mapped_writable({bytes, 5 * page}));
  EXPECT_TRUE(is_mapped_writable({bytes, 2 * page}));
  EXPECT_FALSE(is_mapped_writable({bytes, 2 * page + 1}));
  ::munmap(bytes + 2 * page, page);
  EXPECT_FALSE(is_mapped_writable({bytes, 5 * page}));
  EXPECT_TRUE(is_mapped_writable({bytes + 3 * page, 2 * page}));
  ::munmap(address, 5 * page);
}

}  // namespace
}  // namespace oriel::base
