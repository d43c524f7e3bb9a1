// What every transport must do, whatever it is made of. Two transports in one process, "origin" and
// "target", meet each other; the target never calls anything after exposing its memory.

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "base/options.hpp"
#include "base/shared_segment.hpp"
#include "support/fake_verbs/fake_verbs.hpp"
#include "sync/flush.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/verbs/verbs_transport.hpp"

namespace oriel::transport {
namespace {

using Bytes = std::vector<std::byte>;

struct Maker {
  std::string name;
  bool own_memory;  ///< of the target: the program's own, or a shared segment
  std::function<std::unique_ptr<Transport>(int rank, PeerHealth&)> make;
};

std::vector<Maker> makers() {
  const auto shm = [](int rank, PeerHealth& health) {
    return std::make_unique<shm::ShmTransport>(rank, health);
  };
  const auto verbs = [](int rank, PeerHealth& health) {
    return std::make_unique<verbs::VerbsTransport>(base::Options{}, "", rank, 42, health);
  };
  const auto staged = [](int rank, PeerHealth& health) {
    return std::make_unique<shm::ShmTransport>(rank, health,
                                               shm::ShmTransport::CrossMemory::forbidden);
  };
  return {{"shm_mapped", false, shm},
          {"shm_own", true, shm},
          {"shm_own_by_agent", true, staged},
          {"verbs_segment", false, verbs},
          {"verbs_own", true, verbs}};
}

class TransportContract : public testing::TestWithParam<Maker> {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;

  TransportContract() {
    fake_verbs::reset();
    for (int rank = 0; rank < 2; ++rank) transports_.push_back(GetParam().make(rank, health_));
    std::vector<Peer> peers;
    for (int rank = 0; rank < 2; ++rank) {
      peers.push_back({.rank = rank,
                       .host = "here",
                       .pid = ::getpid(),
                       .same_machine = true,
                       .address = transports_[static_cast<std::size_t>(rank)]->address()});
    }
    for (const auto& transport : transports_) transport->meet(peers);
    exposed_ = target().expose({memory(), GetParam().own_memory ? nullptr : &segment_});
    attached_ = origin().attach(1, exposed_->descriptor());
    progress_ = std::make_unique<Progress>(std::vector<Transport*>{&origin()}, nullptr, false);
  }

  [[nodiscard]] Transport& origin() { return *transports_[0]; }
  [[nodiscard]] Transport& target() { return *transports_[1]; }
  [[nodiscard]] Endpoint& endpoint() { return origin().endpoint(1); }
  [[nodiscard]] std::span<std::byte> memory() { return segment_.bytes(); }
  [[nodiscard]] RemoteAddress at(std::size_t offset) { return attached_->base().plus(offset); }
  void put(std::span<const std::byte> source, std::size_t offset, Completion& done) {
    for (std::size_t sent = 0; sent < source.size();) {
      const std::size_t now =
          endpoint().put(source.data() + sent, source.size() - sent, at(offset + sent), done);
      ASSERT_LE(now, source.size() - sent);
      if (now == 0) progress_->poll();
      sent += now;
    }
  }
  void get(std::span<std::byte> destination, std::size_t offset, Completion& done) {
    for (std::size_t asked = 0; asked < destination.size();) {
      const std::size_t now = endpoint().get(destination.data() + asked, destination.size() - asked,
                                             at(offset + asked), done);
      if (now == 0) progress_->poll();
      asked += now;
    }
  }
  void flush(Completion& done) { sync::flush(*progress_, endpoint(), done); }
  static Bytes pattern(std::size_t length, unsigned seed) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed);
    return bytes;
  }
  [[nodiscard]] std::uint64_t word(std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, memory().data() + offset, sizeof value);
    return value;
  }

  PeerHealth health_;
  base::SharedSegment segment_{kBytes};
  std::vector<std::unique_ptr<Transport>> transports_;
  std::unique_ptr<ExposedMemory> exposed_;
  std::unique_ptr<PeerMemory> attached_;
  std::unique_ptr<Progress> progress_;
};

INSTANTIATE_TEST_SUITE_P(All, TransportContract, testing::ValuesIn(makers()),
                         [](const auto& maker) { return maker.param.name; });

TEST_P(TransportContract, PutsArriveWholeAndNowhereElse) {
  for (const std::size_t length :
       {1U, 7U, 8U, 63U, 64U, 65U, 255U, 256U, 257U, 4095U, 32768U, 32769U, 500'000U}) {
    for (const std::size_t offset : {0U, 1U, 4096U}) {
      const Bytes source = pattern(length, static_cast<unsigned>(length));
      std::ranges::fill(memory(), std::byte{0xEE});
      Completion done;
      put(source, offset, done);
      flush(done);
      ASSERT_EQ(std::memcmp(memory().data() + offset, source.data(), length), 0)
          << length << " at " << offset;
      ASSERT_TRUE(offset == 0 || memory()[offset - 1] == std::byte{0xEE});
      ASSERT_EQ(memory()[offset + length], std::byte{0xEE});
    }
  }
}

TEST_P(TransportContract, GetsBringWhatIsThere) {
  for (const std::size_t length : {1U, 8U, 100U, 256U, 4097U, 65536U, 500'001U}) {
    const Bytes there = pattern(length, 3);
    std::memcpy(memory().data() + 17, there.data(), length);
    Bytes here(length);
    Completion done;
    get(here, 17, done);
    sync::flush_local(*progress_, endpoint(), done);
    ASSERT_EQ(here, there) << length;
  }
}

TEST_P(TransportContract, ALocallyCompletePutHasTakenItsBytes) {
  Bytes source = pattern(3000, 1);
  const Bytes wanted = source;
  Completion done;
  put(source, 8, done);
  sync::flush_local(*progress_, endpoint(), done);
  std::ranges::fill(source, std::byte{0});
  flush(done);
  EXPECT_EQ(std::memcmp(memory().data() + 8, wanted.data(), wanted.size()), 0);
}

TEST_P(TransportContract, AtomicsReturnTheOldValueAndStoreTheNewOne) {
  Completion done;
  std::uint64_t old = 99;
  const auto finish = [&] {
    flush(done);
    return old;
  };
  ASSERT_EQ(endpoint().fetch_add(5, &old, at(64), done), PostResult::posted);
  EXPECT_EQ(finish(), 0U);
  ASSERT_EQ(endpoint().fetch_add(~std::uint64_t{0}, &old, at(64), done), PostResult::posted);
  EXPECT_EQ(finish(), 5U);
  EXPECT_EQ(word(64), 4U);
  ASSERT_EQ(endpoint().compare_and_swap(4, 70, &old, at(64), done), PostResult::posted);
  EXPECT_EQ(finish(), 4U);
  EXPECT_EQ(word(64), 70U);
  ASSERT_EQ(endpoint().compare_and_swap(4, 80, &old, at(64), done), PostResult::posted);
  EXPECT_EQ(finish(), 70U);
  EXPECT_EQ(word(64), 70U);
}

TEST_P(TransportContract, ManyAtomicsAtOnceLoseNone) {
  constexpr std::size_t kMany = 3000;
  std::vector<std::uint64_t> old(kMany, ~std::uint64_t{0});
  Completion done;
  for (std::uint64_t& one : old) {
    sync::post(*progress_, [&]() noexcept { return endpoint().fetch_add(1, &one, at(0), done); });
  }
  flush(done);
  EXPECT_EQ(word(0), kMany);
  // From one origin they are carried out in some order, each once.
  std::ranges::sort(old);
  std::vector<std::uint64_t> wanted(kMany);
  std::iota(wanted.begin(), wanted.end(), 0U);
  EXPECT_EQ(old, wanted);
}

TEST_P(TransportContract, ASignalNeverOvertakesWhatWasPutBefore) {
  // A flag may be any exposed word that a signal is allowed to write: a segment of the target's
  // own.
  base::SharedSegment flag_segment(4096);
  const auto exposed = target().expose({flag_segment.bytes(), &flag_segment});
  const auto attached = origin().attach(1, exposed->descriptor());
  const auto flag = [&] {
    return std::atomic_ref<std::uint64_t>(
        *reinterpret_cast<std::uint64_t*>(flag_segment.bytes().data()));
  };
  Completion done;
  for (unsigned round = 1; round <= 50; ++round) {
    const Bytes source = pattern(700 * round, round);
    put(source, 0, done);
    sync::post(*progress_,
               [&]() noexcept { return endpoint().signal(round, attached->base(), done); });
    while (flag().load(std::memory_order_acquire) < round) progress_->poll();
    ASSERT_EQ(std::memcmp(memory().data(), source.data(), source.size()), 0) << round;
  }
  flush(done);
}

TEST_P(TransportContract, SealingNothingCompletesAtOnce) {
  Completion done;
  for (int i = 0; i < 1000; ++i) flush(done);
  EXPECT_EQ(done.remote_pending, 0U);
  EXPECT_EQ(origin().outstanding(), 0U);
}

TEST_P(TransportContract, CountsEndAtZeroAfterAMix) {
  Completion done;
  Bytes buffer(20'000);
  std::uint64_t old = 0;
  for (int i = 0; i < 300; ++i) {
    put(std::span(buffer).first(static_cast<std::size_t>(i) * 60 + 1), 8, done);
    sync::post(*progress_, [&]() noexcept { return endpoint().fetch_add(1, &old, at(0), done); });
    get(std::span(buffer).first(static_cast<std::size_t>(i) + 1), 100'000, done);
  }
  flush(done);
  EXPECT_EQ(done.local_pending, 0U);
  EXPECT_EQ(done.remote_pending, 0U);
  EXPECT_EQ(done.failure, nullptr);
  EXPECT_EQ(word(0), 300U);
}

TEST_P(TransportContract, DescribesItself) {
  EXPECT_FALSE(origin().describe().empty());
  EXPECT_FALSE(endpoint().describe().empty());
  EXPECT_EQ(endpoint().failure(), nullptr);
}

}  // namespace
}  // namespace oriel::transport
