/// Requests: operations that are waited for one by one, in the order in which they complete.
///
///     mpirun -n 4 ./08_requests_overlap

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <oriel/oriel.hpp>
#include <span>
#include <vector>

int main(int argc, char** argv) {
  oriel::Runtime job(argc, argv);
  const oriel::Team& world = job.world();
  const auto ranks = static_cast<std::size_t>(world.size());
  constexpr std::size_t kNumbers = 100'000;

  auto window = oriel::Window<long>::allocate(world, kNumbers);
  std::iota(window.local().begin(), window.local().end(), long{world.rank()});
  window.fence();

  // All ranks' numbers set out at once, each rank's into a place of its own.
  std::vector<long> numbers(ranks * kNumbers);
  const auto part = [&](std::size_t rank) {
    return std::span(numbers).subspan(rank * kNumbers, kNumbers);
  };
  std::vector<oriel::Request> requests;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    requests.push_back(window.rget(part(rank), oriel::Rank{static_cast<int>(rank)}, 0));
  }

  // Whichever is here first is worked on first, while the others are still on their way.
  bool right = true;
  for (std::size_t left = ranks; left > 0; --left) {
    const std::size_t rank = oriel::wait_any(requests);  // ends that request: it is not found again
    const auto arrived = part(rank);
    const long sum = std::accumulate(arrived.begin(), arrived.end(), 0L);
    constexpr auto kCount = static_cast<long>(kNumbers);
    right = right && sum == kCount * static_cast<long>(rank) + kCount * (kCount - 1) / 2;
  }

  std::printf("rank %d: the numbers of %zu ranks are %s\n", int{world.rank()}, ranks,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}
