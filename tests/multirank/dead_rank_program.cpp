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

/// What all ranks count together, for who kills.
std::atomic<int>* shared_counter() {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return ::new (page) std::atomic<int>(0);
}
/// Ranks that have made the window: a death would end the creation of the others, too.
std::atomic<int>* const ready = shared_counter();
/// Calls of Oriel since then.
std::atomic<int>* const steps = shared_counter();

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

void lock(Window<Word>& window, Rank /*victim*/) {
  const auto guard = window.lock(Rank(0), LockMode::exclusive);
  window.put(window.get(Rank(0), 0) + 1, Rank(0), 0);
}

void lock_all(Window<Word>& window, Rank /*victim*/) {
  window.lock_all().unlock();
}

void start(Window<Word>& window, Rank victim) {
  window.start(std::span(&victim, 1));
}

void wait(Window<Word>& window, Rank victim) {
  window.post(std::span(&victim, 1));
  window.wait();
}

/// Epochs with everybody.
void epoch(Window<Word>& window, Rank victim) {
  const std::vector<Rank> all{Rank(0), Rank(1), Rank(2), Rank(3)};
  window.post(all);
  window.start(all);
  window.put(Word{1}, victim, 0);
  window.complete();
  window.wait();
}

void wait_notify(Window<Word>& window, Rank /*victim*/) {
  window.wait_notify(1);
}

void test_notify(Window<Word>& window, Rank /*victim*/) {
  while (!window.test_notify(1)) ++*steps;
}

/// Around the ring, which the victim breaks.
void notify(Window<Word>& window, Rank /*victim*/) {
  window.put_notify({}, Rank((window.team().rank() + 1) % kRanks), 0, 2);
  window.wait_notify(2);
}

void request(Window<Word>& window, Rank victim) {
  Word old = 0;
  std::vector<Word> values(5000);
  std::vector<Request> requests;
  requests.push_back(window.rfetch_add(1, old, victim, 0));
  requests.push_back(window.rget(values, victim, 0));
  requests.push_back(window.raccumulate(values, victim, 0, op::sum));
  requests[static_cast<std::size_t>(*steps) % 3].wait_remote();
  wait_all(requests);
}

/// What becomes of the victim before it is killed.
enum class Victim {
  takes_part,
  is_idle,
  holds_the_lock,  ///< of part 0, and is idle
};

struct Scenario {
  const char* name;
  bool created;
  Step step;
  Victim victim;
  bool others_wait = false;  ///< in their first step, for the victim
};

constexpr Scenario kScenarios[] = {
    {"killed in a fence", false, fence, Victim::takes_part},
    {"killed among puts and fences", false, put_and_fence, Victim::takes_part},
    {"killed among puts and fences, memory of the program", true, put_and_fence,
     Victim::takes_part},
    {"killed while others wait for it in a fence", false, fence, Victim::is_idle, true},
    {"killed while others add to its words, memory of the program", true, add_and_flush,
     Victim::is_idle},
    {"killed while others read its words, memory of the program", true, get_and_flush,
     Victim::is_idle},
    {"killed among locks", false, lock, Victim::takes_part},
    {"killed with a lock that others wait for", false, lock, Victim::holds_the_lock, true},
    {"killed with a lock that keeps out who wants all", true, lock_all, Victim::holds_the_lock,
     true},
    {"killed while others wait for its post", false, start, Victim::is_idle, true},
    {"killed while others wait for its access", false, wait, Victim::is_idle, true},
    {"killed among epochs", false, epoch, Victim::takes_part},
    {"killed while others wait for a notification", false, wait_notify, Victim::is_idle, true},
    {"killed while others ask for a notification", false, test_notify, Victim::is_idle},
    {"killed among notifications", false, notify, Victim::takes_part},
    {"killed among requests, memory of the program", true, request, Victim::is_idle},
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
  if (scenario.victim == Victim::holds_the_lock) {
    if (world.rank() == victim) window.lock(Rank(0), LockMode::exclusive).release();
    window.fence();
  }
  ++*ready;
  const bool idle = world.rank() == victim && scenario.victim != Victim::takes_part;
  if (idle) std::this_thread::sleep_for(std::chrono::hours(1));
  return survive(scenario, window, victim, host);
}

bool run(const Scenario& scenario, int round) {
  const Rank victim(round % kRanks);
  *ready = 0;
  *steps = 0;
  test::ForkJob job(
      kRanks, [&](const Runtime& runtime) { return body(runtime, scenario, victim); },
      kLimitSeconds);
  const int when = 3 + round * 37 % 200;
  while (*ready < kRanks || *steps < (scenario.others_wait ? kRanks - 1 : when)) {
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
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
  bool right = true;
  for (const Scenario& scenario : kScenarios) {
    for (int round = 0; round < rounds; ++round) right &= run(scenario, round);
    std::printf("%s: %d rounds\n", scenario.name, rounds);
    std::fflush(stdout);
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
