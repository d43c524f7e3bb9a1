// Random puts and gets of all ranks at once, checked against a copy that is kept serially.

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

constexpr std::size_t kPiece = 300'000;  // of every rank's part, for every rank to write

/// What this rank has put into its piece of every rank's part, kept by plain stores.
class Oracle {
 public:
  Oracle() : pieces_(static_cast<std::size_t>(ranks()), std::vector<std::byte>(kPiece)) {}
  void put(std::span<const std::byte> bytes, int target, std::size_t at) {
    std::ranges::copy(bytes, piece(target).begin() + static_cast<std::ptrdiff_t>(at));
  }
  [[nodiscard]] std::vector<std::byte>& piece(int target) {
    return pieces_[static_cast<std::size_t>(target)];
  }

 private:
  std::vector<std::vector<std::byte>> pieces_;
};

class Stress : public BothKinds {
 protected:
  Stress()
      : exposed_(world(), GetParam(), kPiece * static_cast<std::size_t>(ranks())),
        random_(static_cast<std::uint64_t>(4711 + 31 * me())) {}

  [[nodiscard]] std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  /// Mostly small, sometimes beyond every threshold.
  [[nodiscard]] std::size_t some_size() {
    constexpr std::array<std::size_t, 4> kLimits{16, 600, 5000, 150'000};
    return below(kLimits[below(8) == 0 ? 3 : below(3)]);
  }
  [[nodiscard]] static std::size_t piece_of(int origin) {
    return kPiece * static_cast<std::size_t>(origin);
  }

  void put_something() {
    const std::size_t size = some_size();
    const std::size_t at = below(kPiece - size);
    const int target = static_cast<int>(below(static_cast<std::size_t>(ranks())));
    // Origins stay as they are until the round's end: several puts are under way at once.
    origins_.emplace_back(size);
    for (std::byte& one : origins_.back()) one = static_cast<std::byte>(random_());
    exposed_.window.put(origins_.back(), Rank(target), piece_of(me()) + at);
    oracle_.put(origins_.back(), target, at);
    switch (below(8)) {
      case 0:
        exposed_.window.flush(Rank(target));
        break;
      case 1:
        exposed_.window.flush_local(Rank(target));
        std::ranges::fill(origins_.back(), std::byte{0xdd});  // reusable
        break;
      default:
        break;
    }
  }

  /// After a flush, gets of this rank must see what this rank put before.
  void get_something() {
    const std::size_t size = some_size();
    const std::size_t at = below(kPiece - size);
    const int target = static_cast<int>(below(static_cast<std::size_t>(ranks())));
    std::vector<std::byte> seen(size, std::byte{0xee});
    exposed_.window.flush(Rank(target));
    exposed_.window.get(seen, Rank(target), piece_of(me()) + at);
    exposed_.window.flush_local(Rank(target));
    const std::span<const std::byte> expected = std::span(oracle_.piece(target)).subspan(at, size);
    EXPECT_TRUE(std::ranges::equal(seen, expected))
        << "get of " << size << " bytes at " << at << " from rank " << target;
  }

  /// The owner looks at its part itself: compares with what the writers say they wrote.
  void compare_part() {
    const auto total = kPiece * static_cast<std::size_t>(ranks());
    std::vector<std::byte> sent;
    for (int target = 0; target < ranks(); ++target) {
      sent.insert(sent.end(), oracle_.piece(target).begin(), oracle_.piece(target).end());
    }
    std::vector<std::byte> expected(total);
    MPI_Alltoall(sent.data(), static_cast<int>(kPiece), MPI_BYTE, expected.data(),
                 static_cast<int>(kPiece), MPI_BYTE, MPI_COMM_WORLD);
    EXPECT_TRUE(std::ranges::equal(exposed_.window.local(), expected));
  }

  Exposed<std::byte> exposed_;
  std::mt19937_64 random_;
  Oracle oracle_;
  std::vector<std::vector<std::byte>> origins_;
};

TEST_P(Stress, RandomPutsAndGetsEndAsASerialRunWould) {
  for (int round = 0; round < scaled(40); ++round) {
    for (int step = 0; step < 40; ++step) {
      put_something();
      if (below(4) == 0) get_something();
    }
    exposed_.window.fence();
    compare_part();
    origins_.clear();
    mpi_barrier();
  }
}

// Many small operations, nothing flushed: more than any queue holds.
TEST_P(Stress, ThousandsOfPutsInFlightAreAllThere) {
  const auto count = static_cast<std::size_t>(scaled(40'000));
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<std::uint32_t>(i * 2'654'435'761U + static_cast<unsigned>(me()));
  }
  Exposed<std::uint32_t> words(world(), GetParam(), count);
  const int right = (me() + 1) % ranks();
  for (std::size_t i = 0; i < count; ++i) {
    words.window.put(std::span(values).subspan(i, 1), Rank(right), i);
  }
  words.window.fence();
  const auto left = static_cast<unsigned>((me() + ranks() - 1) % ranks());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong +=
        words.window.local()[i] == static_cast<std::uint32_t>(i * 2'654'435'761U + left) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U);
}

// B166's single-threaded half: many gets on their way at once, each to a place of its own.
TEST_P(Stress, ThousandsOfGetsInFlightFetchTheirOwnElement) {
  const auto count = static_cast<std::size_t>(scaled(20'000));
  Exposed<std::uint64_t> words(world(), GetParam(), count);
  for (std::size_t i = 0; i < count; ++i) {
    words.window.local()[i] = i * 1000 + static_cast<unsigned>(me());
  }
  words.window.fence();
  const int right = (me() + 1) % ranks();
  std::vector<std::uint64_t> seen(count);
  for (std::size_t i = 0; i < count; ++i) {
    words.window.get(std::span(seen).subspan(i, 1), Rank(right), count - 1 - i);
  }
  words.window.flush_local_all();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += seen[i] == (count - 1 - i) * 1000 + static_cast<unsigned>(right) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U);
  words.window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Stress, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
