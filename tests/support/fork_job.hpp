#pragma once
/// A job whose ranks are processes made by fork, without MPI and without mpirun: nobody but Oriel
/// itself notices when one of them dies.

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <oriel/runtime.hpp>

#include "bootstrap/bootstrap.hpp"
#include "runtime/runtime_state.hpp"

namespace oriel::test {

/// Memory that parent and children share, given out piece by piece and never taken back.
class SharedArena {
 public:
  explicit SharedArena(std::size_t bytes)
      : base_(static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        bytes_(bytes) {
    ::new (base_) std::atomic<std::size_t>(kAlign);
  }
  ~SharedArena() { ::munmap(base_, bytes_); }
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// Zeroed bytes; their place is the same in all processes.
  [[nodiscard]] std::size_t take(std::size_t bytes) {
    auto& used = *reinterpret_cast<std::atomic<std::size_t>*>(base_);
    const std::size_t place = used.fetch_add((bytes + kAlign - 1) / kAlign * kAlign);
    if (place + bytes > bytes_) std::abort();
    return place;
  }
  [[nodiscard]] std::byte* at(std::size_t place) const { return base_ + place; }

 private:
  static constexpr std::size_t kAlign = 64;
  std::byte* base_;
  std::size_t bytes_;
};

class ForkBootstrap final : public bootstrap::Bootstrap {
 public:
  /// @param place  of the group's block in the arena: block_bytes(size), zeroed
  ForkBootstrap(SharedArena& arena, std::size_t place, int rank, int size)
      : arena_(arena), place_(place), rank_(rank), size_(size) {}

  [[nodiscard]] static std::size_t block_bytes(int size) {
    return sizeof(Meeting) + kSlotBytes * static_cast<std::size_t>(size);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    if (mine.size() > kSlotBytes) std::abort();
    std::memcpy(slot(rank_), mine.data(), mine.size());
    meet();
    std::vector<std::byte> all;
    for (int rank = 0; rank < size_; ++rank)
      all.insert(all.end(), slot(rank), slot(rank) + mine.size());
    meet();
    return all;
  }
  void abandon() noexcept override {}

 private:
  static constexpr std::size_t kSlotBytes = 4096;
  struct alignas(64) Meeting {
    std::atomic<int> arrived;
    std::atomic<unsigned> generation;
  };

  [[nodiscard]] std::byte* slot(int rank) const {
    return arena_.at(place_) + sizeof(Meeting) + kSlotBytes * static_cast<std::size_t>(rank);
  }

  void meet() {
    auto& meeting = *reinterpret_cast<Meeting*>(arena_.at(place_));
    const unsigned generation = meeting.generation.load();
    if (meeting.arrived.fetch_add(1) + 1 == size_) {
      meeting.arrived = 0;
      ++meeting.generation;
      return;
    }
    while (meeting.generation.load() == generation)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  SharedArena& arena_;
  std::size_t place_;
  int rank_;
  int size_;
};

/// `ranks` children, each with a Runtime of its own on which it runs a body and ends with the
/// body's value. They die with the parent.
class ForkJob {
 public:
  using Body = std::function<int(const Runtime&)>;

  /// @param limit_seconds  after which a child is killed by SIGALRM
  ForkJob(int ranks, const Body& body, unsigned limit_seconds) : arena_(std::size_t{64} << 20U) {
    const std::size_t place = arena_.take(ForkBootstrap::block_bytes(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t child = ::fork();
      if (child == 0)
        run_child(std::make_unique<ForkBootstrap>(arena_, place, rank, ranks), body, limit_seconds);
      children_.push_back(child);
    }
  }
  ~ForkJob() {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    [[maybe_unused]] const auto statuses = wait();
  }
  ForkJob(const ForkJob&) = delete;
  ForkJob& operator=(const ForkJob&) = delete;

  void kill(int rank) const { ::kill(children_[static_cast<std::size_t>(rank)], SIGKILL); }
  /// Ends of all children, as waitpid() tells them.
  [[nodiscard]] std::vector<int> wait() {
    std::vector<int> statuses;
    for (const pid_t child : std::exchange(children_, {})) {
      int status = -1;
      ::waitpid(child, &status, 0);
      statuses.push_back(status);
    }
    return statuses;
  }

 private:
  [[noreturn]] static void run_child(std::unique_ptr<ForkBootstrap> group, const Body& body,
                                     unsigned limit_seconds) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(limit_seconds);
    int status = 99;
    try {
      Runtime job(
          std::make_unique<runtime::RuntimeState>(std::move(group), std::vector<std::string>{}));
      status = body(job);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(nullptr);
    std::_Exit(status);
  }

  SharedArena arena_;
  std::vector<pid_t> children_;
};

}  // namespace oriel::test
