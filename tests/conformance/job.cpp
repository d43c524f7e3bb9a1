#include "conformance/job.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>

namespace oriel::conformance {
namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Watchdog::Watchdog(int rank, std::chrono::seconds limit) : rank_(rank) {
  if (limit.count() > 0) thread_ = std::thread([this, limit] { run(limit); });
}

Watchdog::~Watchdog() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void Watchdog::now_at(std::string_view step) {
  const std::scoped_lock lock(mutex_);
  step_ = step;
  since_ = std::chrono::steady_clock::now();
}

void Watchdog::remark(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  step_ += fmt::format(" ({})", text);
}

void Watchdog::run(std::chrono::seconds limit) {
  while (!stop_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::scoped_lock lock(mutex_);
    if (std::chrono::steady_clock::now() - since_ < limit) continue;
    fmt::print(stderr, "FAIL: rank {} still in {} after {} s\n", rank_, step_, limit.count());
    std::_Exit(124);
  }
}

Job::Job(const std::vector<int>& neighbours, std::chrono::seconds limit)
    : rank_(rank_of_world()), host_(host_name()), watchdog_(rank_, limit) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  nodes_.resize(static_cast<std::size_t>(ranks));
  // A machine is known by its first rank.
  const auto first = static_cast<std::uint64_t>(*std::ranges::min_element(neighbours));
  std::ranges::transform(gather(first), nodes_.begin(),
                         [](std::uint64_t rank) { return static_cast<int>(rank); });
}

int Job::node_count() const noexcept {
  return static_cast<int>(std::set<int>(nodes_.begin(), nodes_.end()).size());
}

void Job::barrier() const {
  MPI_Barrier(MPI_COMM_WORLD);
}

bool Job::agree(bool mine) const {
  int all = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

double Job::most(double mine) const {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

std::int64_t Job::sum(std::int64_t mine) const {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

std::vector<std::uint64_t> Job::gather(std::uint64_t mine) const {
  std::vector<std::uint64_t> all(nodes_.size());
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  return all;
}

std::vector<std::byte> Job::gather_all(const std::vector<std::byte>& mine) const {
  const std::vector<std::uint64_t> sizes = gather(mine.size());
  std::vector<int> counts(sizes.size());
  std::vector<int> starts(sizes.size());
  std::ranges::transform(sizes, counts.begin(),
                         [](std::uint64_t n) { return static_cast<int>(n); });
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<std::byte> all(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(),
                 starts.data(), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

std::vector<std::string> Job::gather_texts(const std::string& mine) const {
  std::string line;
  if (!mine.empty()) {
    line = fmt::format("rank {} on {}: {}", rank_, host_, mine);
    line.push_back('\0');
  }
  std::vector<std::byte> bytes(line.size());
  if (!line.empty()) std::memcpy(bytes.data(), line.data(), line.size());
  const std::vector<std::byte> all = gather_all(bytes);
  std::vector<std::string> texts;
  if (rank_ != 0) return texts;
  const auto* const text = reinterpret_cast<const char*>(all.data());
  for (std::size_t at = 0; at < all.size(); at += texts.back().size() + 1) {
    texts.emplace_back(text + at);
  }
  return texts;
}

}  // namespace oriel::conformance
