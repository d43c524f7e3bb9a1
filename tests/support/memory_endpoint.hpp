#pragma once
/// The simplest endpoint: the peer's memory is this process's own, and everything is done at once.
/// For tests of what is written on top of transports; counts what it is asked for.

#include <atomic>
#include <cstring>
#include <optional>

#include "transport/endpoint.hpp"

namespace oriel::test {

class MemoryEndpoint final : public transport::Endpoint {
 public:
  using Completion = transport::Completion;
  using PostResult = transport::PostResult;
  using RemoteAddress = transport::RemoteAddress;

  [[nodiscard]] std::size_t put(const std::byte* source, std::size_t bytes, RemoteAddress target,
                                Completion&) override {
    std::memcpy(reinterpret_cast<void*>(target.address), source, bytes);
    return bytes;
  }
  [[nodiscard]] std::size_t get(std::byte* destination, std::size_t bytes, RemoteAddress target,
                                Completion&) override {
    std::memcpy(destination, reinterpret_cast<const void*>(target.address), bytes);
    return bytes;
  }
  [[nodiscard]] PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                     RemoteAddress target, Completion&) override {
    *result = word(target).fetch_add(operand);
    return PostResult::posted;
  }
  [[nodiscard]] PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                            std::uint64_t* result, RemoteAddress target,
                                            Completion&) override {
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
  [[nodiscard]] PostResult seal(Completion&) override { return PostResult::posted; }
  void probe() noexcept override { ++probes; }
  [[nodiscard]] const Error* failure() const noexcept override {
    return broken ? &*broken : nullptr;
  }
  [[nodiscard]] std::string describe() const override { return "memory"; }

  int signals = 0;
  std::atomic<int> probes = 0;
  int refusals = 0;  ///< that many signals find no room first
  std::optional<Error> broken;

 private:
  static std::atomic_ref<std::uint64_t> word(RemoteAddress at) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at.address));
  }
};

}  // namespace oriel::test
