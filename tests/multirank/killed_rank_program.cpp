// killed_rank_program TOKEN: fences for ever; rank 1 is killed in the middle of one. TOKEN only
// marks the processes.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <oriel/oriel.hpp>

int main(int argc, char** argv) {
  try {
    oriel::Runtime job(argc, argv);
    auto window = oriel::Window<std::uint64_t>::allocate(job.world(), 100'000);
    window.fence();
    if (job.world().rank() == 1) {
      std::puts("rank 1 is about to die");
      std::fflush(stdout);
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::raise(SIGKILL);
      }).detach();
    }
    for (;;) {
      window.put(std::uint64_t{1}, oriel::Rank(0), 0);
      window.fence();
    }
  } catch (const oriel::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
