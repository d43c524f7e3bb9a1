// dead_rank_program [ROUNDS]: one of four ranks is killed while the others use it; Oriel alone has
// to find out. Every survivor must get an error that names the dead rank and its host, leave its
// window and Runtime at once and end with 0.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fork_job.hpp"

namespace {

using namespace oriel;
using Word = std::uint64_t;

constexpr int kRanks = 4;
constexpr unsigned kLimitSeconds = 60;

/// Calls of Oriel so far, of all ranks: when to kill.
std::atomic<int>* const steps =
    ::new (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
        std::atomic<int>(0);

/// What every rank does over and over until an error ends it.
using Step = void (*)(Window<Word>&, Rank victim);

void fence(Window<Word>& window, Rank /*victim*/) {
  window.fence();
}

void put_and_fence(Window<Word>& window, Rank victim) {
  const std::vector<Word> values(5000, 1);
  window.put(values, victim, 0);
  window.fence();
}

void add_and_flush(Window<Word>& window, Rank victim) {
  window.fetch_add(1, victim, 0);
  window.flush(victim);
}

void get_and_flush(Window<Word>& window, Rank victim) {
  std::vector<Word> values(5000);
  window.get(values, victim, 0);
  window.flush(victim);
}

struct Scenario {
  const char* name;
  bool created;
  Step step;
  bool victim_takes_part;
};

constexpr Scenario kScenarios[] = {
    {"killed in a fence", false, fence, true},
    {"killed among puts and fences", false, put_and_fence, true},
    {"killed among puts and fences, memory of the program", true, put_and_fence, true},
    {"killed while others wait for it in a fence", false, fence, false},
    {"killed while others add to its words, memory of the program", true, add_and_flush, false},
    {"killed while others read its words, memory of the program", true, get_and_flush, false},
};

bool names_the_dead(const Error& error, Rank victim, const std::string& host) {
  const bool right_code =
      error.code() == ErrorCode::peer_lost || error.code() == ErrorCode::peer_failed;
  const ErrorDetails& details = error.details();
  return right_code && details.target == int{victim} && details.target_host == host;
}

int survive(const Scenario& scenario, Window<Word>& window, Rank victim, const std::string& host) {
  try {
    for (;;) {
      ++*steps;
      scenario.step(window, victim);
    }
  } catch (const Error& error) {
    if (names_the_dead(error, victim, host)) return EXIT_SUCCESS;
    std::fprintf(stderr, "%s: %s\n", scenario.name, error.what());
  }
  return EXIT_FAILURE;
}

int body(const Runtime& job, const Scenario& scenario, Rank victim) {
  const Team& world = job.world();
  const std::string host = world.host(victim);
  std::vector<Word> memory(5000);
  auto window = scenario.created ? Window<Word>::create(world, memory)
                                 : Window<Word>::allocate(world, memory.size());
  const bool idle = world.rank() == victim && !scenario.victim_takes_part;
  if (idle) std::this_thread::sleep_for(std::chrono::hours(1));
  return survive(scenario, window, victim, host);
}

bool run(const Scenario& scenario, int round) {
  const Rank victim(round % kRanks);
  *steps = 0;
  test::ForkJob job(
      kRanks, [&](const Runtime& runtime) { return body(runtime, scenario, victim); },
      kLimitSeconds);
  const int when = 3 + round * 37 % 200;
  const bool stuck_soon = scenario.step == fence && !scenario.victim_takes_part;
  while (*steps < (stuck_soon ? kRanks - 1 : when)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  job.kill(victim);
  const auto statuses = job.wait();
  bool right = true;
  for (int rank = 0; rank < kRanks; ++rank) {
    const int status = statuses[static_cast<std::size_t>(rank)];
    const bool as_expected = rank == victim ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                            : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (as_expected) continue;
    std::printf("%s, round %d: rank %d ended with status %#x\n", scenario.name, round, rank,
                static_cast<unsigned>(status));
    right = false;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
  bool right = true;
  for (const Scenario& scenario : kScenarios) {
    for (int round = 0; round < rounds; ++round) right &= run(scenario, round);
    std::printf("%s: %d rounds\n", scenario.name, rounds);
    std::fflush(stdout);
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
