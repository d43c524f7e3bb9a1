#pragma once
/// The simplest endpoint: the peer's memory is this process's own, and everything is done at once.
/// For tests of what is written on top of transports; counts what it is asked for.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>

#include <oriel/shared_bytes.hpp>

#include "transport/endpoint.hpp"

namespace oriel::test {

class MemoryEndpoint : public transport::Endpoint {
 public:
  using Completion = transport::Completion;
  using PostResult = transport::PostResult;
  using RemoteAddress = transport::RemoteAddress;

  [[nodiscard]] std::size_t put(const std::byte* source, std::size_t bytes, RemoteAddress target,
                                Completion&) override {
    bytes = std::min(bytes, largest_put);
    each_word(bytes, [&](std::size_t at, std::size_t length) {
      detail::store_bytes(reinterpret_cast<std::byte*>(target.address) + at, source + at, length);
    });
    return bytes;
  }
  [[nodiscard]] std::size_t get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                                Completion&) override {
    each_word(bytes, [&](std::size_t at, std::size_t length) {
      detail::load_bytes(destination + at, reinterpret_cast<const std::byte*>(target.address) + at,
                         length);
    });
    return bytes;
  }
  [[nodiscard]] std::size_t put_runs(std::span<const transport::Run> runs, RemoteAddress target,
                                     Completion& done) override {
    for (const transport::Run& run : runs) {
      static_cast<void>(put(run.origin, run.bytes, target.plus(run.offset), done));
    }
    return runs.size();
  }
  [[nodiscard]] std::size_t get_runs(std::span<const transport::Run> runs, RemoteAddress target,
                                     Completion& done) override {
    for (const transport::Run& run : runs) {
      static_cast<void>(get(run.origin, run.bytes, target.plus(run.offset), done));
    }
    return runs.size();
  }
  [[nodiscard]] PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                     RemoteAddress target, Completion&) override {
    ++atomics;
    const std::uint64_t old = word(target).fetch_add(operand);
    if (result != nullptr) *result = old;
    return PostResult::posted;
  }
  [[nodiscard]] PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                            std::uint64_t* result, RemoteAddress target,
                                            Completion&) override {
    ++atomics;
    word(target).compare_exchange_strong(compare, swap);
    *result = compare;
    return PostResult::posted;
  }
  [[nodiscard]] PostResult signal(std::uint64_t value, RemoteAddress target, Completion&) override {
    ++signals;
    if (refusals > 0 && refusals-- > 0) return PostResult::no_credit;
    word(target).store(value, std::memory_order_release);
    return PostResult::posted;
  }
  [[nodiscard]] PostResult add(std::uint64_t operand, RemoteAddress target, Completion&) override {
    ++adds;
    word(target).fetch_add(operand, std::memory_order_acq_rel);
    return PostResult::posted;
  }
  [[nodiscard]] PostResult seal(Completion&) override { return PostResult::posted; }
  void probe() noexcept override { ++probes; }
  [[nodiscard]] const Error* failure() const noexcept override {
    return broken ? &*broken : nullptr;
  }
  [[nodiscard]] std::string describe() const override { return "memory"; }

  std::atomic<int> signals = 0;
  std::atomic<int> adds = 0;
  std::atomic<int> atomics = 0;
  std::atomic<int> probes = 0;
  int refusals = 0;  ///< that many signals find no room first
  std::size_t largest_put = std::numeric_limits<std::size_t>::max();  ///< longer ones are cut
  std::optional<Error> broken;

 private:
  /// Words move whole, as by a device: threads may look at one that is written.
  template <class Move>
  static void each_word(std::size_t bytes, Move&& move) {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      move(at, std::min(bytes - at, sizeof(std::uint64_t)));
    }
  }
  static std::atomic_ref<std::uint64_t> word(RemoteAddress at) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at.address));
  }
};

}  // namespace oriel::test
