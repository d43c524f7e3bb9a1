// lock_fairness_program [SECONDS]: all ranks take one exclusive lock over and over, for 2 seconds
// or so many. Prints how often each got it, and fails if the luckiest had it more than half as
// often again as the unluckiest, or if an increment under the lock was lost.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <oriel/oriel.hpp>

namespace {

using Word = std::uint64_t;
using Clock = std::chrono::steady_clock;

constexpr double kMostUnfair = 1.5;
constexpr oriel::Rank kOwner{0};

/// Words of the owner's part, used under its lock.
enum : std::size_t { kArrived, kStop, kCounter, kCounts };

/// Takes the lock until everybody has had it once.
void meet(oriel::Window<Word>& window) {
  bool arrived = false;
  for (bool all = false; !all;) {
    const auto guard = window.lock(kOwner, oriel::LockMode::exclusive);
    const Word others = window.get(kOwner, kArrived);
    if (!arrived) window.put(others + 1, kOwner, kArrived);
    arrived = true;
    all = others == static_cast<Word>(window.team().size());
  }
}

/// Takes the lock until the time of the first rank is over: what counts is the time in which all
/// ask for it.
Word hammer(oriel::Window<Word>& window, std::chrono::duration<double> duration) {
  Word taken = 0;
  for (const auto start = Clock::now();; ++taken) {
    const auto guard = window.lock(kOwner, oriel::LockMode::exclusive);
    if (window.get(kOwner, kStop) != 0) return taken;
    if (Clock::now() - start > duration) window.put(Word{1}, kOwner, kStop);
    window.put(window.get(kOwner, kCounter) + 1, kOwner, kCounter);
  }
}

bool report(const std::vector<Word>& counts, Word counter) {
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    std::printf("rank %zu: %llu times\n", rank, static_cast<unsigned long long>(counts[rank]));
  }
  const auto [least, most] = std::ranges::minmax(counts);
  const double ratio = static_cast<double>(most) / static_cast<double>(std::max<Word>(least, 1));
  std::printf("luckiest / unluckiest: %.2f (at most %.1f)\n", ratio, kMostUnfair);
  const Word sum = std::accumulate(counts.begin(), counts.end(), Word{0});
  if (counter != sum) {
    std::printf("%llu increments of %llu are left\n", static_cast<unsigned long long>(counter),
                static_cast<unsigned long long>(sum));
  }
  return ratio <= kMostUnfair && counter == sum;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    oriel::Runtime job(argc, argv);
    const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
    const auto size = static_cast<std::size_t>(job.world().size());
    const oriel::Rank me = job.world().rank();
    auto window = oriel::Window<Word>::allocate(job.world(), kCounts + size);
    window.fence();
    meet(window);
    const Word taken = hammer(window, std::chrono::duration<double>(seconds));
    window.put(taken, kOwner, kCounts + static_cast<std::size_t>(int{me}));
    window.fence();
    if (int{me} != int{kOwner}) return EXIT_SUCCESS;
    const auto counts = window.local().subspan(kCounts);
    return report({counts.begin(), counts.end()}, window.local()[kCounter]) ? EXIT_SUCCESS
                                                                            : EXIT_FAILURE;
  } catch (const oriel::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
