#pragma once
/// The ranks of a team as threads: words and endpoints are plain memory.

#include <cstdint>
#include <deque>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/doorbell.hpp"
#include "support/memory_endpoint.hpp"
#include "sync/barrier.hpp"
#include "sync/control_words.hpp"
#include "sync/vigil.hpp"

namespace oriel::test {

/// Rings the rank whose words a message has changed, as shared memory does.
class RingingEndpoint final : public MemoryEndpoint {
 public:
  RingingEndpoint(std::span<sync::ControlWords> words, std::deque<base::Doorbell>& doorbells)
      : words_(words), doorbells_(doorbells) {}
  [[nodiscard]] PostResult signal(std::uint64_t value, RemoteAddress target,
                                  Completion& done) override {
    const PostResult result = MemoryEndpoint::signal(value, target, done);
    ring(target);
    return result;
  }
  [[nodiscard]] PostResult add(std::uint64_t operand, RemoteAddress target,
                               Completion& done) override {
    const PostResult result = MemoryEndpoint::add(operand, target, done);
    ring(target);
    return result;
  }

 private:
  void ring(RemoteAddress target) {
    const auto* const word = reinterpret_cast<const std::byte*>(target.address);
    const auto offset = static_cast<std::size_t>(word - std::as_bytes(words_).data());
    const std::size_t rank = offset / sizeof(sync::ControlWords);
    if (rank < doorbells_.size()) doorbells_[rank].ring();  // else not one of the words
  }
  std::span<sync::ControlWords> words_;
  std::deque<base::Doorbell>& doorbells_;
};

class Ranks {
 public:
  /// @param per_machine  ranks of each machine; 0: they are all alone, or all together
  explicit Ranks(int size, int per_machine = 0)
      : words(static_cast<std::size_t>(size)), members(words.size()), doorbells(words.size()) {
    std::iota(members.begin(), members.end(), 0);
    for (int rank = 0; rank < size; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      endpoints.emplace_back(words, doorbells);
      health.emplace_back().set_hosts(std::vector<std::string>(kNamed, "nodeX"));
      progress.emplace_back(std::vector<transport::Lane*>{}, &doorbells[index], true);
    }
    for (int rank = 0; rank < size; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      std::vector<int> nodes;
      for (int other = 0; other < size; ++other)
        nodes.push_back(per_machine == 0 ? 0 : other / per_machine);
      auto rounds = sync::make_rounds(sync::meetings(nodes, rank),
                                      [&](int other) { return partner(rank, other); });
      barriers.emplace_back(members, rank, std::move(rounds), words[index], progress[index],
                            health[index]);
      vigils.emplace_back(members, rank, words[index], health[index], partners(rank));
    }
  }

  [[nodiscard]] int size() const { return static_cast<int>(words.size()); }
  [[nodiscard]] sync::Barrier& barrier(int rank) {
    return barriers[static_cast<std::size_t>(rank)];
  }
  /// The way of `rank` to `other`: each rank has one endpoint, to everybody.
  [[nodiscard]] sync::Partner partner(int rank, int other) {
    return {&endpoints[static_cast<std::size_t>(rank)],
            {reinterpret_cast<std::uint64_t>(&words[static_cast<std::size_t>(other)]), 0}};
  }
  [[nodiscard]] sync::Partners partners(int rank) {
    return [this, rank](int other) { return partner(rank, other); };
  }

  template <class Body>
  void on_all(Body body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank) threads.emplace_back([&, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
  }

  static constexpr std::size_t kNamed = 64;  ///< ranks that messages may name

  std::vector<sync::ControlWords> words;
  std::vector<int> members;
  std::deque<base::Doorbell> doorbells;
  std::deque<RingingEndpoint> endpoints;
  std::deque<transport::PeerHealth> health;
  std::deque<transport::Progress> progress;
  std::deque<sync::Barrier> barriers;
  std::deque<sync::Vigil> vigils;
};

}  // namespace oriel::test
