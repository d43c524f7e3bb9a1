#pragma once

#include <memory>
#include <optional>
#include <span>

#include "transport/endpoint.hpp"
#include "transport/shm/control_block.hpp"
#include "transport/transport.hpp"

namespace oriel::shm {

class ShmTransport;

/// The way to one process of this machine. Addresses with kMapped are in this process and are plain
/// memory; others are the peer's own: copies go by process_vm_readv/writev or, where the kernel
/// forbids it, by the peer's agent, atomics and accumulates always by the agent. What needs no
/// agent is complete on return.
class ShmEndpoint final : public transport::Endpoint {
 public:
  static constexpr std::uint64_t kMapped = 0;
  static constexpr std::uint64_t kPeerAddress = 1;

  ShmEndpoint(ShmTransport& transport, const transport::Peer& peer, ControlBlock& control) noexcept
      : transport_(transport), peer_(peer), control_(control) {}

  [[nodiscard]] std::size_t put(const std::byte* source, std::size_t bytes,
                                transport::RemoteAddress target,
                                transport::Completion& done) override;
  [[nodiscard]] std::size_t get(std::byte* destination, std::size_t bytes,
                                transport::RemoteAddress target,
                                transport::Completion& done) override;
  [[nodiscard]] std::size_t put_runs(std::span<const transport::Run> runs,
                                     transport::RemoteAddress target,
                                     transport::Completion& done) override;
  [[nodiscard]] std::size_t get_runs(std::span<const transport::Run> runs,
                                     transport::RemoteAddress target,
                                     transport::Completion& done) override;
  [[nodiscard]] transport::PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                                transport::RemoteAddress target,
                                                transport::Completion& done) override;
  [[nodiscard]] transport::PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                                       std::uint64_t* result,
                                                       transport::RemoteAddress target,
                                                       transport::Completion& done) override;
  [[nodiscard]] transport::PostResult signal(std::uint64_t value, transport::RemoteAddress word,
                                             transport::Completion& done) override;
  [[nodiscard]] transport::PostResult add(std::uint64_t operand, transport::RemoteAddress word,
                                          transport::Completion& done) override;
  [[nodiscard]] bool has_accumulate() const noexcept override { return true; }
  [[nodiscard]] std::size_t accumulate(const transport::Reduction& reduction,
                                       transport::RemoteAddress target,
                                       transport::Completion& done) override;
  [[nodiscard]] transport::PostResult swap_element(std::size_t bytes, const std::byte* compare,
                                                   const std::byte* swap, std::byte* result,
                                                   transport::RemoteAddress target,
                                                   transport::Completion& done) override;
  [[nodiscard]] transport::PostResult seal(transport::Completion& done) override;
  void probe() noexcept override {}  // PeerWatch needs no help
  [[nodiscard]] const Error* failure() const noexcept override {
    return failure_ ? &*failure_ : nullptr;
  }
  [[nodiscard]] std::string describe() const override;

  [[nodiscard]] const transport::Peer& peer() const noexcept { return peer_; }
  /// One request of the peer's agent has been answered.
  void answered() noexcept { --asked_; }
  /// Marks `done` as failed, and the endpoint with it.
  void fail(ErrorCode code, ErrorDetails details, transport::Completion& done);

 private:
  enum class Direction : bool { write, read };
  std::size_t copy(Direction direction, std::byte* mine, std::size_t bytes,
                   transport::RemoteAddress theirs, transport::Completion& done);
  std::size_t copy_runs(Direction direction, std::span<const transport::Run> runs,
                        transport::RemoteAddress target, transport::Completion& done);
  /// A system call that moved nothing: the operation fails, and so does the endpoint.
  void fail_copy(Direction direction, std::size_t bytes, int error, transport::Completion& done);
  /// A free slot of the peer's agent, claimed, or null; answers can be awaited for as many as there
  /// is room.
  [[nodiscard]] AgentSlot* claim_slot();
  /// What to answer when there is no slot: whether the request was taken after all, and failed,
  /// because a dead peer's agent frees none.
  [[nodiscard]] bool is_lost(transport::Completion& done);
  /// Requires: slot.bytes and what else belongs to the operation is there.
  void submit(AgentSlot& slot, AgentOperation operation, transport::RemoteAddress target);
  [[nodiscard]] std::span<std::byte> staging_of(const AgentSlot& slot) const noexcept;
  transport::PostResult ask_for_atomic(AgentOperation operation, std::size_t bytes,
                                       const std::byte* operand, const std::byte* compare,
                                       std::byte* result, transport::RemoteAddress target,
                                       transport::Completion& done);
  std::size_t ask_for_accumulate(const transport::Reduction& reduction,
                                 transport::RemoteAddress target, transport::Completion& done);
  std::size_t ask_for_copy(Direction direction, std::byte* mine, std::size_t bytes,
                           transport::RemoteAddress theirs, transport::Completion& done);

  ShmTransport& transport_;
  const transport::Peer& peer_;
  ControlBlock& control_;       // the peer's
  std::uint32_t asked_ = 0;     // requests that the peer's agent has not answered
  std::uint32_t sequence_ = 0;  // of the next one
  std::optional<Error> failure_;
};

}  // namespace oriel::shm
