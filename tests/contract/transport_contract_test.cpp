// What every transport must do, whatever it is made of. Two transports in one process, "origin" and
// "target", meet each other; the target never calls anything after exposing its memory.

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
    progress_ = std::make_unique<Progress>(std::vector<Lane*>{&origin()}, nullptr, false);
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

// Runs of many lengths: side by side at the target, with gaps, and in no order.
TEST_P(TransportContract, RunsArriveWhereTheyBelongAndComeBack) {
  for (const std::size_t gap : {0U, 8U, 100U}) {
    std::ranges::fill(memory(), std::byte{0});
    std::vector<transport::Run> runs;
    const Bytes source = pattern(400'000, 3);
    std::size_t origin_at = 0;
    std::size_t target_at = 0;
    for (std::size_t i = 0; i < 500; ++i) {
      const std::size_t bytes = i % 97 == 0 ? kMostRunBytes : 1 + i % 60;
      runs.push_back({const_cast<std::byte*>(source.data()) + origin_at, target_at, bytes});
      origin_at += bytes + i % 5;
      target_at += bytes + gap;
    }
    std::swap(runs[3], runs[400]);
    Completion done;
    const auto post = [&](auto call, std::span<const transport::Run> all) {
      for (std::size_t taken = 0; taken < all.size();) {
        const std::size_t now = (endpoint().*call)(all.subspan(taken), at(64), done);
        ASSERT_LE(now, all.size() - taken);
        if (now == 0) progress_->poll();
        taken += now;
      }
    };
    post(&Endpoint::put_runs, runs);
    flush(done);
    Bytes expected(target_at + gap);
    for (const transport::Run& run : runs)
      std::memcpy(&expected[run.offset], run.origin, run.bytes);
    ASSERT_EQ(std::memcmp(memory().data() + 64, expected.data(), expected.size()), 0);

    Bytes back(source.size());
    std::vector<transport::Run> wanted = runs;
    for (transport::Run& run : wanted) run.origin = back.data() + (run.origin - source.data());
    post(&Endpoint::get_runs, wanted);
    flush(done);
    for (const transport::Run& run : wanted) {
      const auto from = static_cast<std::size_t>(run.origin - back.data());
      ASSERT_EQ(std::memcmp(run.origin, source.data() + from, run.bytes), 0);
    }
  }
}

TEST_P(TransportContract, AnAddNeverOvertakesWhatWasPutBefore) {
  if (GetParam().own_memory) GTEST_SKIP() << "words that are added to lie in shared segments";
  constexpr std::uint64_t kRounds = 200;
  Completion done;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const Bytes data = pattern(1000, static_cast<unsigned>(round));
    put(data, 512, done);
    while (endpoint().add(1, at(0), done) != PostResult::posted) progress_->poll();
    while (std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory().data())).load() < round)
      progress_->poll();
    ASSERT_EQ(std::memcmp(memory().data() + 512, data.data(), data.size()), 0) << round;
  }
  flush(done);
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

// Half of the elements get their old values back; 10,000 are more than a request of an agent
// carries.
TEST_P(TransportContract, AccumulatesElementsOfEachSizeWhereItCan) {
  ASSERT_EQ(endpoint().has_accumulate(), GetParam().name.starts_with("shm"));
  if (!endpoint().has_accumulate()) GTEST_SKIP() << "a device has no CPU at the other end";
  const auto check = [&]<class T>(T /*type*/) {
    constexpr std::size_t kCount = 10'000;
    constexpr std::size_t kOffset = 64;
    std::vector<T> operands(kCount);
    std::iota(operands.begin(), operands.end(), T{1});
    const Bytes before = pattern(kBytes, sizeof(T));
    std::memcpy(memory().data(), before.data(), kBytes);
    std::vector<T> old(kCount / 2);
    Completion done;
    const auto accumulate = [&](std::size_t first, std::size_t count, T* results) {
      sync::post_all(*progress_, count, [&](std::size_t taken) noexcept {
        const auto* sent = reinterpret_cast<const std::byte*>(operands.data() + first + taken);
        auto* wanted = results != nullptr ? reinterpret_cast<std::byte*>(results + taken) : nullptr;
        return endpoint().accumulate({element_type<T>(), OpCode::sum, sent, wanted, count - taken},
                                     at(kOffset + (first + taken) * sizeof(T)), done);
      });
    };
    accumulate(0, kCount / 2, old.data());
    accumulate(kCount / 2, kCount / 2, nullptr);
    flush(done);
    EXPECT_EQ(done.local_pending, 0U);
    EXPECT_EQ(std::memcmp(old.data(), &before[kOffset], old.size() * sizeof(T)), 0);
    for (std::size_t i = 0; i < kCount; ++i) {
      T was;
      T is;
      std::memcpy(&was, &before[kOffset + i * sizeof(T)], sizeof(T));
      std::memcpy(&is, &memory()[kOffset + i * sizeof(T)], sizeof(T));
      ASSERT_EQ(is, static_cast<T>(was + operands[i])) << i;
    }
    const std::size_t end = kOffset + kCount * sizeof(T);
    EXPECT_EQ(std::memcmp(memory().data(), before.data(), kOffset), 0);
    EXPECT_EQ(std::memcmp(&memory()[end], &before[end], kBytes - end), 0);
  };
  check(std::uint8_t{});
  check(std::uint16_t{});
  check(std::uint32_t{});
  check(std::uint64_t{});
}

TEST_P(TransportContract, ReadsAndSwapsElementsWhereItCan) {
  if (!endpoint().has_accumulate()) GTEST_SKIP() << "a device has no CPU at the other end";
  std::ranges::copy(pattern(64, 5), memory().begin());
  Completion done;
  std::uint16_t old = 0;
  auto* const result = reinterpret_cast<std::byte*>(&old);
  ASSERT_EQ(endpoint().accumulate(
                {element_type<std::uint16_t>(), OpCode::no_op, nullptr, result, 1}, at(10), done),
            1U);
  flush(done);
  const std::uint16_t there = old;
  EXPECT_EQ(std::memcmp(&there, &memory()[10], sizeof there), 0);
  const std::uint16_t swapped = 0x1234;
  const auto swap = [&](std::uint16_t compare) {
    sync::post(*progress_, [&]() noexcept {
      return endpoint().swap_element(sizeof old, reinterpret_cast<const std::byte*>(&compare),
                                     reinterpret_cast<const std::byte*>(&swapped), result, at(10),
                                     done);
    });
    flush(done);
    return old;
  };
  EXPECT_EQ(swap(static_cast<std::uint16_t>(there + 1)), there);
  EXPECT_EQ(std::memcmp(&there, &memory()[10], sizeof there), 0);
  EXPECT_EQ(swap(there), there);
  EXPECT_EQ(std::memcmp(&swapped, &memory()[10], sizeof swapped), 0);
  EXPECT_EQ(std::memcmp(&memory()[12], &pattern(64, 5)[12], 52), 0);
}

// What is asked of an agent while it is busy lies in slots, and those are reused in any order.
TEST_P(TransportContract, AccumulatesOfOneOriginArriveInTheirOrder) {
  if (!endpoint().has_accumulate()) GTEST_SKIP() << "a device has no CPU at the other end";
  std::vector<std::uint64_t> tokens(5000);
  std::iota(tokens.begin(), tokens.end(), 1U);
  std::vector<std::uint64_t> old(tokens.size());
  Completion done;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    sync::post_all(*progress_, 1, [&](std::size_t) noexcept {
      return endpoint().accumulate({element_type<std::uint64_t>(), OpCode::replace,
                                    reinterpret_cast<const std::byte*>(&tokens[i]),
                                    reinterpret_cast<std::byte*>(&old[i]), 1},
                                   at(0), done);
    });
  }
  flush(done);
  for (std::size_t i = 0; i < tokens.size(); ++i) ASSERT_EQ(old[i], i);
  EXPECT_EQ(word(0), tokens.size());
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
