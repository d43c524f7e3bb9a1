// The regions of a dynamic window: what the owner publishes, and what a peer makes of it.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "unit/sync/ranks.hpp"
#include "window/region_table.hpp"
#include "window/team_state.hpp"

namespace oriel::window {
namespace {

constexpr std::size_t kMost = 8;

class Exposed : public transport::ExposedMemory {
 public:
  Exposed(const transport::RegionDescriptor& descriptor, int& count)
      : ExposedMemory(descriptor), count_(count) {
    ++count_;
  }
  ~Exposed() override { --count_; }

 private:
  int& count_;
};

/// Exposes, and counts what is exposed; nothing else is asked of it.
class ExposingTransport final : public transport::Transport {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "exposing"; }
  [[nodiscard]] transport::Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] transport::AddressBytes address() const noexcept override { return {}; }
  void meet(std::span<const transport::Peer>) override {}
  [[nodiscard]] transport::Endpoint& endpoint(int) override { throw std::logic_error("endpoint"); }
  [[nodiscard]] std::unique_ptr<transport::ExposedMemory> expose(
      const transport::LocalMemory& memory) override {
    return std::make_unique<Exposed>(
        transport::RegionDescriptor{.address = reinterpret_cast<std::uint64_t>(memory.bytes.data()),
                                    .length = memory.bytes.size()},
        exposed);
  }
  [[nodiscard]] std::unique_ptr<transport::PeerMemory> attach(
      int, const transport::RegionDescriptor&) override {
    throw std::logic_error("attach");
  }
  std::size_t progress() override { return 0; }
  [[nodiscard]] std::size_t outstanding() const noexcept override { return 0; }
  [[nodiscard]] std::string describe() const override { return "exposing"; }

  int exposed = 0;
};

/// Plain memory that may change just before it is read.
class ChangingEndpoint : public test::MemoryEndpoint {
 public:
  [[nodiscard]] std::size_t get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                                Completion& done) override {
    if (before_get) before_get();
    return MemoryEndpoint::get(destination, bytes, target, done);
  }
  std::function<void()> before_get;
};

/// Rank 0 owns the table, rank 1 reads it.
class Regions : public testing::Test {
 protected:
  void attach(std::span<std::byte> memory) { owner_.attach(memory); }
  /// Where the region begins that holds the bytes, or 0.
  [[nodiscard]] std::uint64_t find(const std::byte* address, std::size_t bytes) {
    std::uint64_t begin = 0;
    const auto reach = [&](const MemoryRecord& region, Target& way) {
      ++reached_;
      way.bytes = region.shm.length;
      return std::make_unique<TeamMemory>(job_, paths_);
    };
    const Target* const found =
        directory_.find(ranks_.progress[1], ranks_.vigils[1],
                        {&endpoint_, {reinterpret_cast<std::uint64_t>(words_.data()), 0}}, reach,
                        reinterpret_cast<std::uint64_t>(address), bytes, begin);
    return found != nullptr ? begin : 0;
  }
  [[nodiscard]] std::span<std::byte> part(std::size_t offset, std::size_t bytes) {
    return std::span(memory_).subspan(offset, bytes);
  }
  [[nodiscard]] static std::uint64_t at(std::span<std::byte> memory) {
    return reinterpret_cast<std::uint64_t>(memory.data());
  }

  test::Ranks ranks_{2};
  ChangingEndpoint endpoint_;
  std::array<std::byte, 100> memory_{};
  std::array<std::uint64_t, RegionTable::bytes(kMost) / 8> words_{};
  RegionTable& table_ = *reinterpret_cast<RegionTable*>(words_.data());
  ExposingTransport transport_;
  JobContext job_;
  TeamPaths paths_{&transport_, nullptr};
  int reached_ = 0;
  RegionOwner owner_{table_, kMost, job_, paths_, 3};
  RegionDirectory directory_;
};

TEST_F(Regions, AreFoundByTheirBytes) {
  EXPECT_EQ(find(memory_.data(), 1), 0U) << "nothing is attached";
  attach(part(50, 10));
  attach(part(10, 10));
  attach(part(20, 5));  // touches the one before
  EXPECT_EQ(find(&memory_[10], 10), at(part(10, 10)));
  EXPECT_EQ(find(&memory_[19], 1), at(part(10, 10)));
  EXPECT_EQ(find(&memory_[20], 5), at(part(20, 5)));
  EXPECT_EQ(find(&memory_[59], 1), at(part(50, 10)));
  EXPECT_EQ(find(&memory_[60], 0), at(part(50, 10))) << "no bytes at the end";
  EXPECT_EQ(find(&memory_[9], 2), 0U);
  EXPECT_EQ(find(&memory_[19], 2), 0U) << "over two";
  EXPECT_EQ(find(&memory_[55], 6), 0U);
  EXPECT_EQ(find(&memory_[55], ~std::size_t{0}), 0U);
  EXPECT_EQ(find(&memory_[61], 0), 0U);
  EXPECT_EQ(find(nullptr, 1), 0U);
}

TEST_F(Regions, AreReadAgainOnlyAfterAChange) {
  attach(part(0, 10));
  attach(part(10, 10));
  for (int i = 0; i < 5; ++i) EXPECT_NE(find(memory_.data(), 1), 0U);
  EXPECT_EQ(reached_, 2);
  owner_.detach(part(0, 10));
  EXPECT_EQ(transport_.exposed, 1);
  EXPECT_EQ(find(memory_.data(), 1), 0U);
  EXPECT_NE(find(&memory_[10], 1), 0U);
  EXPECT_EQ(reached_, 3);
  attach(part(0, 20 - 10));
  EXPECT_EQ(find(memory_.data(), 10), at(part(0, 10)));
}

TEST_F(Regions, VersionsAreEvenAndGrow) {
  EXPECT_EQ(table_.version, 0U);
  attach(part(0, 1));
  EXPECT_EQ(table_.version, 2U);
  EXPECT_THROW(attach(part(0, 1)), Error);
  EXPECT_THROW(owner_.detach(part(0, 2)), Error);
  EXPECT_EQ(table_.version, 2U) << "refused: nothing changed";
  EXPECT_EQ(transport_.exposed, 1);
  owner_.detach(part(0, 1));
  EXPECT_EQ(table_.version, 4U);
  EXPECT_EQ(table_.count, 0U);
  EXPECT_EQ(transport_.exposed, 0);
}

TEST_F(Regions, AsManyAsThereIsRoomFor) {
  for (std::size_t i = 0; i < kMost; ++i) attach(part(2 * i, 1));
  try {
    attach(part(90, 1));
    ADD_FAILURE() << "had room";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(error.details().problem.find("8 regions"), std::string::npos);
  }
  owner_.detach(part(6, 1));
  attach(part(90, 1));
  EXPECT_NE(find(&memory_[90], 1), 0U);
  EXPECT_EQ(find(&memory_[6], 1), 0U);
  EXPECT_NE(find(&memory_[14], 1), 0U);
}

// Whenever the owner changes the table between two reads, what is found is right for some moment.
TEST_F(Regions, ThatChangeWhileTheyAreReadAreReadOnceMore) {
  for (int change_at = 0; change_at < 8; ++change_at) {
    attach(part(40, 8));
    attach(part(0, 8));
    int reads = 0;
    endpoint_.before_get = [&] {
      if (reads++ != change_at) return;
      owner_.detach(part(0, 8));
      attach(part(80, 8));
    };
    EXPECT_EQ(find(&memory_[40], 8), at(part(40, 8))) << change_at;
    const bool changed = reads > change_at;
    endpoint_.before_get = nullptr;
    EXPECT_EQ(find(memory_.data(), 8) == 0, changed);
    EXPECT_EQ(find(&memory_[80], 8) != 0, changed);
    EXPECT_EQ(find(&memory_[40], 8), at(part(40, 8)));
    owner_.detach(part(40, 8));
    owner_.detach(changed ? part(80, 8) : part(0, 8));
  }
}

// In the middle of a change there is nothing to read: the reader waits for its end.
TEST_F(Regions, AreNotReadInTheMiddleOfAChange) {
  attach(part(40, 8));
  ++table_.version;
  int reads = 0;
  endpoint_.before_get = [&] {
    if (++reads == 10) ++table_.version;
  };
  EXPECT_EQ(find(&memory_[40], 8), at(part(40, 8)));
  EXPECT_GE(reads, 10);
}

}  // namespace
}  // namespace oriel::window
