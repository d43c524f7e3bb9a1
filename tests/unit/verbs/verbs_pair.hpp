#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "fake_verbs/fake_verbs.hpp"
#include "transport/verbs/verbs_transport.hpp"

namespace oriel::verbs {

inline base::Options ordered_options() {
  base::Options options;
  options.visibility = base::Visibility::ordered;
  options.peer_timeout_seconds = 1;
  return options;
}

/// One operation after the other on one endpoint, and the wait for it.
class Driver {
 public:
  Driver(transport::Transport& transport, transport::Endpoint& endpoint)
      : transport_(transport), endpoint_(endpoint) {}

  void put(std::span<const std::byte> source, transport::RemoteAddress target) {
    while (!source.empty()) {
      const std::size_t bytes = endpoint_.put(source.data(), source.size(), target, done);
      if (bytes == 0) transport_.progress();
      source = source.subspan(bytes);
      target = target.plus(bytes);
    }
  }
  void get(std::span<std::byte> destination, transport::RemoteAddress target) {
    while (!destination.empty()) {
      const std::size_t bytes = endpoint_.get(destination.data(), destination.size(), target, done);
      if (bytes == 0) transport_.progress();
      destination = destination.subspan(bytes);
      target = target.plus(bytes);
    }
  }
  void flush() {
    while (endpoint_.seal(done) == transport::PostResult::no_credit) transport_.progress();
    while (done.remote_pending > 0) transport_.progress();
  }

  transport::Completion done;

 private:
  transport::Transport& transport_;
  transport::Endpoint& endpoint_;
};

/// Two ranks of one job on the fake fabric, driven by the test's thread. Each exposes `bytes` of
/// memory to the other.
class VerbsPair {
 public:
  static constexpr std::uint64_t kNonce = 4711;

  explicit VerbsPair(std::size_t bytes = 1U << 20U,
                     const base::Options& options = ordered_options()) {
    std::vector<transport::Peer> peers(2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      ranks[rank] = std::make_unique<VerbsTransport>(options, "", static_cast<int>(rank), kNonce,
                                                     health[rank]);
      peers[rank].rank = static_cast<int>(rank);
      peers[rank].host = "node" + std::to_string(rank);
      peers[rank].address = ranks[rank]->address();
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      ranks[rank]->meet(peers);
      memory[rank].resize(bytes);
      exposed[rank] = ranks[rank]->expose({.bytes = memory[rank], .segment = nullptr});
    }
  }

  [[nodiscard]] transport::Endpoint& way(std::size_t from, std::size_t to) {
    return ranks[from]->endpoint(static_cast<int>(to));
  }
  [[nodiscard]] Driver driver(std::size_t from, std::size_t to) {
    return {*ranks[from], way(from, to)};
  }
  [[nodiscard]] transport::RemoteAddress at(std::size_t rank, std::size_t offset = 0) const {
    const auto& region = exposed[rank]->descriptor();
    return transport::RemoteAddress{region.address, region.key}.plus(offset);
  }
  [[nodiscard]] std::uint64_t& word(std::size_t rank, std::size_t offset = 0) {
    return *reinterpret_cast<std::uint64_t*>(memory[rank].data() + offset);
  }

  std::array<transport::PeerHealth, 2> health;
  std::array<std::vector<std::byte>, 2> memory;
  std::array<std::unique_ptr<VerbsTransport>, 2> ranks;
  std::array<std::unique_ptr<transport::ExposedMemory>, 2> exposed;
};

inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<std::byte> made(bytes);
  unsigned value = seed;
  for (std::byte& byte : made) {
    value = value * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(value >> 24U);
  }
  return made;
}

}  // namespace oriel::verbs
