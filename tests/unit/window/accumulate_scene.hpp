#pragma once
/// One target's part, and some origins with an accumulator each, whose ways to it differ.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/shared_segment.hpp"
#include "support/fake_verbs/fake_verbs.hpp"
#include "support/memory_endpoint.hpp"
#include "sync/flush.hpp"
#include "transport/peer_health.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/verbs/verbs_transport.hpp"
#include "window/accumulate.hpp"

namespace oriel::window {

/// How one origin reaches the part.
enum class Leg {
  mapped,        ///< plain loads and stores, CPU atomics
  agent,         ///< process_vm_readv/writev, and the owner's agent
  in_place,      ///< plain loads and stores, as all origins do
  agent_alone,   ///< the owner's agent for copies too
  device,        ///< a device whose atomics are the CPU's [IBV_ATOMIC_GLOB]
  verbs,         ///< a device whose atomics are its own
  beside_verbs,  ///< plain loads and stores, atomics by such a device
};

/// A window of some domain, and the legs that its origins have in turn.
struct Way {
  std::string name;
  CoherenceDomain domain;
  std::vector<Leg> legs;
  AccumulatePromises promises{};
};

inline std::vector<Way> all_ways() {
  using enum CoherenceDomain;
  return {{"in_place", cpu, {Leg::in_place}},
          {"mapped", cpu, {Leg::mapped}},
          {"agent", cpu, {Leg::agent}},
          {"agent_alone", cpu, {Leg::agent_alone}},
          {"mapped_and_agent", cpu, {Leg::mapped, Leg::agent}},
          {"glob", cpu_and_nic, {Leg::mapped, Leg::device}},
          {"glob_and_agent", cpu_and_nic, {Leg::agent, Leg::device}},
          {"device", nic, {Leg::device}},
          {"verbs", nic, {Leg::verbs}},
          {"nic", nic, {Leg::beside_verbs, Leg::verbs}}};
}

inline std::string way_name(const testing::TestParamInfo<Way>& way) {
  return way.param.name;
}

class CountingMutex final : public TargetMutex {
 public:
  void lock(std::size_t team_rank) override {
    mutex_.lock();
    ++locks;
    is_held = true;
    last = team_rank;
  }
  void unlock(std::size_t) override {
    is_held = false;
    mutex_.unlock();
  }

  // Looked at while no other thread accumulates:
  int locks = 0;
  bool is_held = false;
  std::size_t last = 0;

 private:
  std::mutex mutex_;
};

class Scene {
 public:
  static constexpr std::size_t kBytes = 1 << 20;
  static constexpr std::size_t kTeamRank = 0;

  Scene(Way way, std::size_t origins) : way_(std::move(way)), origins_(origins) {
    fake_verbs::reset();
    for (std::size_t i = 0; i < origins; ++i) make_transports(leg(i), static_cast<int>(i));
    make_transports(Leg::agent, static_cast<int>(origins));
    if (uses_verbs()) make_transports(Leg::verbs, static_cast<int>(origins));
    meet();
    for (std::size_t i = 0; i < origins; ++i) connect(i);
  }

  [[nodiscard]] std::span<std::byte> memory() { return segment_.bytes(); }
  [[nodiscard]] Leg leg(std::size_t origin) const { return way_.legs[origin % way_.legs.size()]; }

  void accumulate(std::size_t origin, const AccumulateRequest& request) {
    Origin& from = origins_[origin];
    from.accumulator->accumulate(request, kTeamRank, from.target, from.done);
  }
  void compare_and_swap(std::size_t origin, const CompareAndSwapRequest& request) {
    Origin& from = origins_[origin];
    from.accumulator->compare_and_swap(request, kTeamRank, from.target, from.done);
  }
  void flush(std::size_t origin) {
    Origin& from = origins_[origin];
    sync::post(*from.progress, [&]() noexcept { return from.target.atomics->seal(from.done); });
    sync::flush(*from.progress, *from.target.data, from.done);
  }

  CountingMutex locks;

 private:
  struct Origin {
    test::MemoryEndpoint memory;
    std::unique_ptr<transport::PeerMemory> attached;
    std::unique_ptr<transport::Progress> progress;
    Target target;
    transport::Completion done;
    std::unique_ptr<Accumulator> accumulator;
  };

  [[nodiscard]] bool uses_verbs() const {
    return std::ranges::find(way_.legs, Leg::verbs) != way_.legs.end();
  }
  void make_transports(Leg leg, int rank) {
    const auto index = static_cast<std::size_t>(rank);
    shm_.resize(origins_.size() + 1);
    verbs_.resize(origins_.size() + 1);
    if (leg == Leg::agent || leg == Leg::agent_alone) {
      using enum shm::ShmTransport::CrossMemory;
      shm_[index] = std::make_unique<shm::ShmTransport>(
          rank, health_, leg == Leg::agent ? to_be_tried : forbidden);
    } else if (leg == Leg::verbs || leg == Leg::beside_verbs) {
      verbs_[index] =
          std::make_unique<verbs::VerbsTransport>(base::Options{}, "", rank, 42, health_);
    }
  }
  template <class Transports>
  static void meet(const Transports& transports) {
    std::vector<transport::Peer> peers(transports.size());
    for (std::size_t rank = 0; rank < transports.size(); ++rank) {
      peers[rank].rank = static_cast<int>(rank);
      peers[rank].host = "here";
      peers[rank].pid = ::getpid();
      peers[rank].same_machine = transports[rank] != nullptr;
      if (transports[rank] != nullptr) peers[rank].address = transports[rank]->address();
    }
    for (const auto& transport : transports) {
      if (transport != nullptr) transport->meet(peers);
    }
  }
  void meet() {
    meet(shm_);
    exposed_shm_ = shm_.back()->expose({memory(), nullptr});
    if (!uses_verbs()) return;
    meet(verbs_);
    exposed_verbs_ = verbs_.back()->expose({memory(), nullptr});
  }
  void connect(std::size_t index) {
    Origin& origin = origins_[index];
    Target& target = origin.target;
    const int rank = static_cast<int>(origins_.size());
    const auto here = reinterpret_cast<std::uint64_t>(memory().data());
    std::vector<transport::Lane*> transports;
    const auto use = [&](transport::Transport& transport, transport::ExposedMemory& exposed) {
      transports.push_back(&transport);
      origin.attached = transport.attach(rank, exposed.descriptor());
      target.atomics = &transport.endpoint(rank);
      target.atomics_base = origin.attached->base();
    };
    if (shm_[index] != nullptr) {
      use(*shm_[index], *exposed_shm_);
    } else if (verbs_[index] != nullptr) {
      use(*verbs_[index], *exposed_verbs_);
    } else {
      target.atomics = &origin.memory;
      target.atomics_base = {here, 0};
    }
    target.data = target.atomics;
    target.data_base = target.atomics_base;
    target.bytes = kBytes;
    if (leg(index) == Leg::beside_verbs) {
      target.data = &origin.memory;
      target.data_base = {here, 0};
    }
    if (leg(index) == Leg::mapped || leg(index) == Leg::in_place ||
        leg(index) == Leg::beside_verbs) {
      target.mapped = memory().data();
    }
    base::Doorbell* const doorbell = shm_[index] != nullptr ? &shm_[index]->doorbell() : nullptr;
    origin.progress = std::make_unique<transport::Progress>(transports, doorbell, true);
    origin.accumulator = std::make_unique<Accumulator>(
        *origin.progress, locks,
        AccumulateFacts{.domain = way_.domain,
                        .promises = way_.promises,
                        .stripes = leg(index) == Leg::in_place ? &stripes_ : nullptr});
  }

  static constexpr std::array<int, 1> kMembers = {40};

  Way way_;
  transport::PeerHealth health_;
  sync::ControlWords words_{};
  sync::Vigil vigil_{kMembers, 0, words_, health_};
  std::array<sync::ControlWords*, 1> all_words_ = {&words_};
  Stripes stripes_{all_words_, vigil_};
  base::SharedSegment segment_{kBytes};
  std::vector<std::unique_ptr<shm::ShmTransport>> shm_;  // by rank; the target's last
  std::vector<std::unique_ptr<verbs::VerbsTransport>> verbs_;
  std::unique_ptr<transport::ExposedMemory> exposed_shm_;
  std::unique_ptr<transport::ExposedMemory> exposed_verbs_;
  std::vector<Origin> origins_;
};

}  // namespace oriel::window
