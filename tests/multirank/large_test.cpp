// B113, B117: one put and one get beyond 4 GiB. Shared memory only: takes as much memory twice.

#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kGiB = std::size_t{1} << 30U;

/// What /proc/meminfo says is available, in bytes.
std::size_t available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    if (line.starts_with("MemAvailable:")) return std::stoul(line.substr(13)) * 1024;
  }
  return 0;
}

/// Pages from the system, given back at once when they go.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::span<Word> words() const {
    return {static_cast<Word*>(memory_), bytes_ / sizeof(Word)};
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Word `index` of what is put: no two are equal, so that a piece in the wrong place shows.
constexpr Word value_at(std::size_t index, Word salt) {
  return index * 0x9e3779b97f4a7c15U + salt;
}

void fill(std::span<Word> words, Word salt) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = value_at(i, salt);
}

std::size_t count_wrong(std::span<const Word> words, Word salt) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) wrong += words[i] != value_at(i, salt) ? 1U : 0U;
  return wrong;
}

bool memory_is_short(std::size_t needed) {
  return !all_ranks(available_memory() >= needed);
}

/// Rank 0 puts `origin` to rank 1, from its second word on; rank 1 looks; then rank 0 gets it back.
void put_and_get(Window<Word>& window, std::span<Word> origin) {
  constexpr Word kSalt = 12345;
  if (me() == 0) {
    fill(origin, kSalt);
    window.put(origin, Rank(1), 1);
  }
  window.fence();
  if (me() == 1) {
    const auto local = window.local();
    EXPECT_EQ(count_wrong(local.subspan(1, local.size() - 2), kSalt), 0U);
    EXPECT_EQ(local.front(), 0U);
    EXPECT_EQ(local.back(), 0U);
  }
  window.fence();
  if (me() == 0) {
    for (Word& word : origin) word = 0;
    window.get(origin, Rank(1), 1);
    window.flush(Rank(1));
    EXPECT_EQ(count_wrong(origin, kSalt), 0U);
  }
  window.fence();
}

TEST(Large, OnePutAndOneGetOfFiveGibibytes) {
  constexpr std::size_t kBytes = 5 * kGiB;
  if (memory_is_short(14 * kGiB)) GTEST_SKIP() << "needs 14 GiB of available memory";
  const Pages origin(me() == 0 ? kBytes : 8);
  auto window = Window<Word>::allocate(world(), me() == 1 ? kBytes / 8 + 2 : 0);
  put_and_get(window, origin.words());
}

// The kernel cuts a copy between processes at 2 GiB.
TEST(Large, MoreThanTheKernelCopiesInOneCallToMemoryOfTheProgram) {
  constexpr std::size_t kBytes = 5 * kGiB / 2 + 8;
  if (memory_is_short(8 * kGiB)) GTEST_SKIP() << "needs 8 GiB of available memory";
  const Pages origin(me() == 0 ? kBytes : 8);
  const Pages memory(kBytes + 16);
  auto window = Window<Word>::create(world(), me() == 1 ? memory.words() : std::span<Word>{});
  put_and_get(window, origin.words());
}

}  // namespace
}  // namespace oriel::test
