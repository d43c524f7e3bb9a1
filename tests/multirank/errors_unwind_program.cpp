// A rank that throws between its collective calls: the others get an error at theirs instead of
// waiting for ever, and the process can go on. After such an error a Runtime is of no more use, so
// each scenario has its own. Ends with 0 if every rank got what it should; prints what it got.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include <oriel/mpi.hpp>
#include <oriel/oriel.hpp>

namespace {

using Window = oriel::Window<std::uint64_t>;

struct Accident : std::runtime_error {
  Accident() : std::runtime_error("accident") {}
};

int me = 0;
int ranks = 1;

[[nodiscard]] int guilty() {
  return ranks - 1;
}
[[nodiscard]] bool is_guilty() {
  return me == guilty();
}

/// What a rank does in a job that one rank leaves by an Accident. Survivors return normally if they
/// see no error.
using Scenario = std::function<void(const oriel::Team&)>;

void between_fences(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  for (int round = 0; round < 20; ++round) {
    if (is_guilty() && round == 7) throw Accident();
    window.put(std::uint64_t{1}, oriel::Rank((me + 1) % ranks), 0);
    window.fence();
  }
}

void before_free(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  window.fence();
  if (is_guilty()) throw Accident();
  window.free();
}

/// The error comes again at every later fence, not just once.
void fence_after_failed_fence(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  if (is_guilty()) throw Accident();
  try {
    window.fence();
  } catch (const oriel::Error&) {
    window.fence();
  }
}

void two_windows(const oriel::Team& world) {
  std::uint64_t own[8] = {};
  auto other = Window::allocate(world, 8);
  auto window = Window::create(world, own);
  window.fence();
  if (is_guilty()) throw Accident();
  window.fence();
}

/// Misuse that nobody catches is such an accident as well.
void uncaught_misuse(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  window.fence();
  if (is_guilty()) window.put(std::uint64_t{1}, oriel::Rank(0), 8);
  window.fence();
}

/// Ranks that just leave the window, by its destructor: not stopped by an error, and not for ever.
void destructors_only(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  window.fence();
  if (is_guilty()) throw Accident();
}

/// The guilty one holds the lock that the others wait for, and does not give it back.
void holding_a_lock(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  if (is_guilty()) window.lock(oriel::Rank(0), oriel::LockMode::exclusive).release();
  world.barrier();
  if (is_guilty()) throw Accident();
  if (me % 2 == 0) {
    window.lock(oriel::Rank(0), oriel::LockMode::shared).unlock();
  } else {
    window.lock_all().unlock();
  }
}

void before_post(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  if (is_guilty()) throw Accident();
  const oriel::Rank target(guilty());
  window.start(std::span(&target, 1));
}

void before_complete(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  const oriel::Rank origin(guilty());
  window.post(std::span(&origin, 1));
  if (is_guilty()) throw Accident();
  window.wait();
}

void polling_for_an_access(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  const oriel::Rank origin(guilty());
  window.post(std::span(&origin, 1));
  if (is_guilty()) throw Accident();
  while (!window.test()) continue;
}

void before_a_notification(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  if (is_guilty()) throw Accident();
  window.wait_notify(3);
}

/// In another window than that of the accident.
void waiting_elsewhere(const oriel::Team& world) {
  auto window = Window::allocate(world, 8);
  if (is_guilty()) {
    auto other = Window::allocate(world.split(-1), 8);
    other.fence();
    throw Accident();
  }
  const oriel::Team alone = world.split(-1);
  (void)window.wait_notify_any(1, 5);
}

/// Its memory is no longer there for those that use it, by requests and flushes.
void using_its_memory(const oriel::Team& world) {
  std::uint64_t own[8] = {};
  auto window = Window::create(world, own);
  window.fence();
  if (is_guilty()) throw Accident();
  const oriel::Rank target(guilty());
  for (std::uint64_t old = 0;;) {
    window.rfetch_add(1, old, target, 0).wait();
    window.accumulate(std::uint64_t{1}, target, 1, oriel::op::max);
    window.flush(target);
  }
}

/// What the ranks that are not guilty get; `refused` may also be the transport's error.
enum class Expected { peer_failed, refused, nothing };

/// Whether this rank got what it should.
bool run(const char* name, const Scenario& scenario, Expected expected) {
  oriel::Runtime job{oriel::Communicator(MPI_COMM_WORLD)};
  bool right = expected == Expected::nothing && !is_guilty();
  std::string got = "nothing";
  try {
    scenario(job.world());
  } catch (const oriel::Error& error) {
    got = error.what();
    const bool right_code =
        error.code() == oriel::ErrorCode::peer_failed ||
        (expected == Expected::refused && error.code() == oriel::ErrorCode::transport_failed);
    const bool names_guilty = right_code && error.details().target == guilty();
    right = is_guilty() ? error.code() == oriel::ErrorCode::out_of_range
                        : expected != Expected::nothing && names_guilty;
  } catch (const Accident&) {
    got = "its own accident";
    right = is_guilty();
  }
  std::printf("%s: rank %d: %s: %s\n", name, me, right ? "right" : "WRONG", got.c_str());
  MPI_Barrier(MPI_COMM_WORLD);  // whoever is told of an accident can still be told by all
  return right;
}

bool run_all() {
  bool right = run("between fences", between_fences, Expected::peer_failed);
  right &= run("before free", before_free, Expected::peer_failed);
  right &= run("fence after a failed fence", fence_after_failed_fence, Expected::peer_failed);
  right &= run("two windows", two_windows, Expected::peer_failed);
  right &= run("uncaught misuse", uncaught_misuse, Expected::peer_failed);
  right &= run("destructors only", destructors_only, Expected::nothing);
  right &= run("holding a lock", holding_a_lock, Expected::peer_failed);
  right &= run("before post", before_post, Expected::peer_failed);
  right &= run("before complete", before_complete, Expected::peer_failed);
  right &= run("polling for an access", polling_for_an_access, Expected::peer_failed);
  right &= run("before a notification", before_a_notification, Expected::peer_failed);
  right &= run("using its memory", using_its_memory, Expected::refused);
  right &= run("waiting elsewhere", waiting_elsewhere, Expected::peer_failed);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(100);  // a hang is a failure
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool right = run_all();
  MPI_Finalize();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
