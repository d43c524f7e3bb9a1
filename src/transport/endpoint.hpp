#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/completion.hpp"
#include "transport/memory.hpp"

namespace oriel::transport {

enum class PostResult : std::uint8_t { posted, no_credit };

/// The way from this process to one peer over one transport.
///
/// Posting never waits, allocates, locks or throws. "No room now" is a result; the caller
/// (sync::post and window_transfer.cpp) makes progress and tries again. What was posted ends in its
/// Completion, by success or by failure; a failed endpoint takes everything and fails it at once,
/// so that nobody waits for it.
///
/// Order: operations of one endpoint reach the target in the order they were posted; `signal`
/// therefore never overtakes a put. Threads: one-at-a-time per Transport.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  /// Starts writing the first n bytes of `source`; returns n, 0 < n <= bytes, or 0 when there is no
  /// room. Counts one started operation in `done` when n > 0. Requires bytes > 0.
  [[nodiscard]] virtual std::size_t put(const std::byte* source, std::size_t bytes,
                                        RemoteAddress target, Completion& done) = 0;
  /// Starts reading the first n bytes at `target`; otherwise as put().
  [[nodiscard]] virtual std::size_t get(std::byte* destination, std::size_t bytes,
                                        RemoteAddress target, Completion& done) = 0;
  /// Adds to the 64-bit word at `target` (8-byte aligned); `*result` gets its old value when
  /// locally complete.
  [[nodiscard]] virtual PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                             RemoteAddress target, Completion& done) = 0;
  /// Stores `swap` in the 64-bit word at `target` if it equals `compare`; `*result` gets its old
  /// value.
  [[nodiscard]] virtual PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                                    std::uint64_t* result, RemoteAddress target,
                                                    Completion& done) = 0;
  /// Writes one 64-bit word (8-byte aligned) after everything posted before, and wakes the target
  /// if it sleeps waiting for it. The word must be mapped shared memory or registered; it never
  /// shows half-written to a reader that expects it to grow by one.
  [[nodiscard]] virtual PostResult signal(std::uint64_t value, RemoteAddress word,
                                          Completion& done) = 0;

  /// Makes sure that what was posted so far completes without any further posting, and that its
  /// completion means that the bytes are visible at the target (ORIEL_VISIBILITY). Called by flush,
  /// before it waits. Counts in `done` when it posts.
  [[nodiscard]] virtual PostResult seal(Completion& done) = 0;

  /// Asks for a sign of life of the peer: a dead one makes the endpoint fail some time later.
  /// Called while somebody waits for the peer with nothing outstanding. Never fails, never blocks.
  virtual void probe() noexcept = 0;

  /// Why the endpoint failed, or null. Once set it stays, and the object lives as long as the
  /// endpoint.
  [[nodiscard]] virtual const Error* failure() const noexcept = 0;

  /// "rxe0 port 1 gid 1 mtu 4096", "mapped + process_vm", …
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace oriel::transport
