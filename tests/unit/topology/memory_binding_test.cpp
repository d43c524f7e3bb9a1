#include "topology/memory_binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace oriel::topology {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kLength = std::size_t{1} << 20;

/// Untouched memory of its own; `kind` is MAP_PRIVATE or MAP_SHARED.
class Mapping {
 public:
  explicit Mapping(int kind)
      : address_(::mmap(nullptr, kLength, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0)) {
    if (address_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  }
  ~Mapping() { ::munmap(address_, kLength); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] void* address() const { return address_; }

 private:
  void* address_;
};

class MemoryBindingTest : public testing::TestWithParam<int> {
 protected:
  Topology machine_ = Topology::discover();
};

TEST_P(MemoryBindingTest, PutsPagesOnTheNodeAtFirstTouchAndNotBefore) {
  for (const int node : machine_.numa_nodes()) {
    const Mapping memory(GetParam());
    const MemoryBinding binding = bind_memory(machine_, memory.address(), kLength, node);
    if (!binding.bound) GTEST_SKIP() << binding.reason;
    EXPECT_EQ(binding.reason, "");

    const auto before = memory_location(machine_, memory.address(), kLength);
    if (!before) GTEST_SKIP() << "the kernel does not tell where pages are";
    EXPECT_THAT(*before, IsEmpty());
    std::memset(memory.address(), 1, kLength);
    EXPECT_EQ(memory_location(machine_, memory.address(), kLength), std::vector{node});
  }
}

INSTANTIATE_TEST_SUITE_P(Mappings, MemoryBindingTest, testing::Values(MAP_PRIVATE, MAP_SHARED),
                         [](const auto& kind) {
                           return kind.param == MAP_SHARED ? "shared" : "private";
                         });

TEST(MemoryBindingRefusal, NamesANodeThatDoesNotExist) {
  alignas(4096) static std::byte page[4096];
  const auto machine = Topology::discover();
  const MemoryBinding binding = bind_memory(machine, page, sizeof page, 4711);
  EXPECT_FALSE(binding.bound);
  EXPECT_THAT(binding.reason, AllOf(HasSubstr("4096 bytes not bound to NUMA node 4711"),
                                    HasSubstr("use only NUMA node")));
}

TEST(MemoryBindingRefusal, PassesOnWhatTheKernelSays) {
  const auto machine = Topology::discover();
  void* const unmapped = Mapping(MAP_PRIVATE).address();
  const MemoryBinding binding =
      bind_memory(machine, unmapped, kLength, machine.numa_nodes().front());
  EXPECT_FALSE(binding.bound);
  EXPECT_THAT(binding.reason, testing::ContainsRegex("not bound to NUMA node [0-9]+: [A-Z]"));
}

TEST(MemoryBindingRefusal, ADescribedMachineHasNoMemory) {
  alignas(4096) static std::byte page[4096];
  const auto machine = Topology::from_synthetic("numa:2 core:1 pu:1");
  const MemoryBinding binding = bind_memory(machine, page, sizeof page, 1);
  EXPECT_FALSE(binding.bound);
  EXPECT_THAT(binding.reason, HasSubstr("does not describe this machine"));
  EXPECT_EQ(memory_location(machine, page, sizeof page), std::nullopt);
}

TEST(MemoryBindingTrivia, NoBytesAreBoundAnywhere) {
  const auto machine = Topology::discover();
  EXPECT_TRUE(bind_memory(machine, nullptr, 0, machine.numa_nodes().front()).bound);
  EXPECT_EQ(memory_location(machine, nullptr, 0), std::vector<int>{});
}

}  // namespace
}  // namespace oriel::topology
