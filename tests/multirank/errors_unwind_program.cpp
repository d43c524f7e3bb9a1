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

enum class Expected { peer_failed, nothing };

/// Whether this rank got what it should.
bool run(const char* name, const Scenario& scenario, Expected expected) {
  oriel::Runtime job{oriel::Communicator(MPI_COMM_WORLD)};
  bool right = expected == Expected::nothing && !is_guilty();
  std::string got = "nothing";
  try {
    scenario(job.world());
  } catch (const oriel::Error& error) {
    got = error.what();
    const bool names_guilty =
        error.code() == oriel::ErrorCode::peer_failed && error.details().target == guilty();
    right = is_guilty() ? error.code() == oriel::ErrorCode::out_of_range
                        : expected == Expected::peer_failed && names_guilty;
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
