// main() of every multi-rank test: one Runtime, agreed verdicts, and a watchdog against hangs.

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <oriel/mpi.hpp>

#include "support/multirank.hpp"

namespace oriel::test {
namespace {

Runtime* runtime = nullptr;

/// Ends the process when one test takes longer than any should; mpirun then ends the others. A hang
/// is a failure with a name.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit) : thread_([this, limit] { run(limit); }) {}
  ~Watchdog() {
    stop_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void now_at(std::string test) {
    const std::scoped_lock lock(mutex_);
    test_ = std::move(test);
    since_ = std::chrono::steady_clock::now();
  }

 private:
  void run(std::chrono::seconds limit) {
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::scoped_lock lock(mutex_);
      if (std::chrono::steady_clock::now() - since_ < limit) continue;
      std::fprintf(stderr, "watchdog: rank %d still in %s after %lld s\n", me(), test_.c_str(),
                   static_cast<long long>(limit.count()));
      std::_Exit(124);
    }
  }

  std::mutex mutex_;
  std::string test_ = "start-up";
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Agreement final : public testing::EmptyTestEventListener {
 public:
  explicit Agreement(Watchdog& watchdog) : watchdog_(watchdog) {}

  void OnTestStart(const testing::TestInfo& info) override {
    watchdog_.now_at(std::string(info.test_suite_name()) + "." + info.name());
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (me() == 0 || !result.failed()) return;  // rank 0 has the ordinary printer
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", me(), result.file_name(), result.line_number(),
                 result.message());
  }
  // While a listener's OnTestEnd runs, failures still count for the test that ends.
  void OnTestEnd(const testing::TestInfo& info) override {
    const bool mine = !info.result()->Failed();
    if (mine && !all_ranks(mine)) {
      ADD_FAILURE() << "failed on another rank";
    } else if (!mine) {
      [[maybe_unused]] const bool all = all_ranks(mine);
    }
  }

 private:
  Watchdog& watchdog_;
};

}  // namespace

Runtime& job() {
  return *runtime;
}

bool all_ranks(bool condition) {
  int mine = condition ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

void mpi_barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

long mpi_sum(long value) {
  long sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

std::string_view fabric() {
  const char* const name = std::getenv("ORIEL_TEST_FABRIC");
  return name == nullptr ? "shm" : name;
}

namespace {

int run_all(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* const limit = std::getenv("ORIEL_TEST_LIMIT");
  Watchdog watchdog(std::chrono::seconds(limit == nullptr ? 100 : std::atoi(limit)));
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (me() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Agreement(watchdog));  // owned by the list
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace oriel::test

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = 1;
  try {
    oriel::Runtime job(MPI_COMM_WORLD);
    oriel::test::runtime = &job;
    status = oriel::test::run_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
