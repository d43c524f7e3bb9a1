#pragma once
/// The ranks of a team as threads: words and endpoints are plain memory.

#include <cstdint>
#include <deque>
#include <exception>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/memory_endpoint.hpp"
#include "sync/barrier.hpp"
#include "sync/control_words.hpp"
#include "sync/vigil.hpp"

namespace oriel::test {

class Ranks {
 public:
  explicit Ranks(int size) : words(static_cast<std::size_t>(size)), members(words.size()) {
    std::iota(members.begin(), members.end(), 0);
    for (int rank = 0; rank < size; ++rank) {
      endpoints.emplace_back();
      health.emplace_back().set_hosts(std::vector<std::string>(members.size(), "nodeX"));
      progress.emplace_back(std::vector<transport::Lane*>{}, nullptr, true);
    }
    for (int rank = 0; rank < size; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      std::vector<sync::Round> rounds;
      for (const int distance : sync::round_distances(size)) {
        rounds.push_back({partner(rank, (rank + distance) % size),
                          partner(rank, (rank + size - distance) % size)});
      }
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

  std::deque<sync::ControlWords> words;
  std::vector<int> members;
  std::deque<MemoryEndpoint> endpoints;
  std::deque<transport::PeerHealth> health;
  std::deque<transport::Progress> progress;
  std::deque<sync::Barrier> barriers;
  std::deque<sync::Vigil> vigils;
};

}  // namespace oriel::test
