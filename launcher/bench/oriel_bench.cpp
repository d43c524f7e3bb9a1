/// oriel-bench: what Oriel's operations cost on the ranks it is started on. See --help.

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <oriel/mpi.hpp>

#include "launcher/bench/bench_options.hpp"
#include "launcher/bench/measurement.hpp"
#include "launcher/bench/report.hpp"

namespace oriel::bench {
namespace {

/// How far it is, on a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t total)
      : total_(total), is_shown_(::isatty(STDERR_FILENO) == 1) {}
  void show(std::size_t done, std::string_view what) const {
    if (!is_shown_) return;
    constexpr std::size_t kWidth = 24;
    const std::size_t full = done * kWidth / total_;
    fmt::print(stderr, "\r\033[K[{}{}] {}/{} {}", std::string(full, '#'),
               std::string(kWidth - full, '.'), done, total_, what);
    std::fflush(stderr);
  }
  void clear() const {
    if (is_shown_) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::size_t total_;
  bool is_shown_;
};

/// Opens --json before anything is measured, on the rank that writes it.
class JsonFile {
 public:
  explicit JsonFile(const std::string& name)
      : file_(name.empty() ? nullptr : std::fopen(name.c_str(), "w")) {
    if (!name.empty() && file_ == nullptr)
      throw std::runtime_error(fmt::format("--json: cannot write to {}", name));
  }
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;
  ~JsonFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  void write(const std::string& line) const {
    if (file_ == nullptr) return;
    fmt::print(file_, "{}", line);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

int run(const BenchOptions& options) {
  Runtime job(MPI_COMM_WORLD);
  const int target = job.world().size() - 1;
  Path path = job.world().fabric(Rank(target)) == "verbs" ? Path::verbs : Path::memory;
  job.world().broadcast(path, Rank(0));  // rank 0's way, which others need not have
  const Stand stand{job, path};
  const bool prints = stand.rank() == 0;
  const Setting setting{stand.ranks(), std::string(to_string(stand.path)),
                        std::string(to_string(options.window))};
  const std::vector<Task> tasks = options.tasks();
  if (tasks.empty()) throw std::runtime_error("no operation can have any of these sizes");
  const JsonFile json(prints ? options.json : "");
  const ProgressBar bar(tasks.size());
  std::vector<Row> rows;
  if (prints) fmt::print("{}", table_head(setting));
  for (const Task& task : tasks) {
    if (prints) bar.show(rows.size(), info(task.operation).name);
    rows.push_back(measure(stand, task, options.plan));
    if (!prints) continue;
    bar.clear();
    fmt::print("{}", table_line(rows.back()));
    std::fflush(stdout);
    json.write(json_line(rows.back(), setting));
  }
  if (prints && !options.plot.empty()) plot(rows, setting, options.plot);
  return 0;
}

int start(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  BenchOptions options;
  const std::optional<int> ends = parse(argc, argv, rank == 0, options);
  int status = ends.value_or(1);
  if (!ends) {
    if (!options.fabric.empty()) ::setenv("ORIEL_FABRIC", options.fabric.c_str(), 1);
    try {
      status = run(options);
    } catch (const std::exception& error) {
      // The others may be in the middle of a row.
      fmt::print(stderr, "oriel-bench: {}\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace
}  // namespace oriel::bench

int main(int argc, char** argv) {
  return oriel::bench::start(argc, argv);
}
