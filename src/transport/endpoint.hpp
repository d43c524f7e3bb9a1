#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <oriel/operations.hpp>

#include "transport/completion.hpp"
#include "transport/memory.hpp"

namespace oriel::transport {

enum class PostResult : std::uint8_t { posted, no_credit };

/// A contiguous run of a strided transfer.
struct Run {
  std::byte* origin = nullptr;  ///< only read by a put
  std::uint64_t offset = 0;     ///< from the target address of the transfer
  std::size_t bytes = 0;        ///< 1 … kMostRunBytes: what is longer is a transfer of its own
};
inline constexpr std::size_t kMostRunBytes = 4096;
inline constexpr std::size_t kMostScattered = 64;  ///< runs that one request can bring

/// target[i] = op(target[i], operands[i]) for `count` elements of 1, 2, 4 or 8 bytes.
struct Reduction {
  ElementType type{};
  OpCode op = OpCode::sum;
  const std::byte* operands = nullptr;  ///< null for no_op
  std::byte* results = nullptr;         ///< where the old values go; null: nowhere
  std::size_t count = 0;
};

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
  /// Starts writing the first n of `runs`, each as a whole; returns n, or 0 when there is no room.
  /// Gathers what is contiguous at the target. Requires at least one run.
  [[nodiscard]] virtual std::size_t put_runs(std::span<const Run> runs, RemoteAddress target,
                                             Completion& done) = 0;
  /// Starts reading the first n of `runs`; scatters what is contiguous at the target.
  [[nodiscard]] virtual std::size_t get_runs(std::span<const Run> runs, RemoteAddress target,
                                             Completion& done) = 0;
  /// Adds to the 64-bit word at `target` (8-byte aligned); `*result` gets its old value when
  /// locally complete. A null `result` is for who does not want it.
  [[nodiscard]] virtual PostResult fetch_add(std::uint64_t operand, std::uint64_t* result,
                                             RemoteAddress target, Completion& done) = 0;
  /// Stores `swap` in the 64-bit word at `target` if it equals `compare`; `*result` gets its old
  /// value.
  [[nodiscard]] virtual PostResult compare_and_swap(std::uint64_t compare, std::uint64_t swap,
                                                    std::uint64_t* result, RemoteAddress target,
                                                    Completion& done) = 0;
  /// Writes one 64-bit word (8-byte aligned) after everything posted before, and wakes the target
  /// if it sleeps waiting for it. Behind a read it may have no room until the read is done. The
  /// word must be mapped shared memory or registered; it never shows half-written to a reader that
  /// expects it to grow by one.
  [[nodiscard]] virtual PostResult signal(std::uint64_t value, RemoteAddress word,
                                          Completion& done) = 0;

  /// Adds to a word as fetch_add() does, but like signal(): after everything posted before, reads
  /// included, and waking the target. For words with several writers.
  [[nodiscard]] virtual PostResult add(std::uint64_t operand, RemoteAddress word,
                                       Completion& done) = 0;

  /// Whether a CPU next to the peer's memory carries out accumulate() and swap_element(), by its
  /// own atomics.
  [[nodiscard]] virtual bool has_accumulate() const noexcept { return false; }
  /// Starts with the first n elements of `reduction`, each of them an atomic of its own at a
  /// multiple of its size; returns n, 0 < n <= count, or 0 when there is no room. Counts one
  /// started operation in `done` when n > 0. The operands may be reused on return; results are
  /// there when locally complete. Requires has_accumulate(), count > 0.
  [[nodiscard]] virtual std::size_t accumulate(const Reduction& /*reduction*/,
                                               RemoteAddress /*target*/, Completion& /*done*/) {
    return 0;
  }
  /// compare_and_swap() on an element of 1, 2, 4 or 8 bytes. Requires has_accumulate().
  [[nodiscard]] virtual PostResult swap_element(std::size_t /*bytes*/, const std::byte* /*compare*/,
                                                const std::byte* /*swap*/, std::byte* /*result*/,
                                                RemoteAddress /*target*/, Completion& /*done*/) {
    return PostResult::no_credit;
  }

  /// What is posted until uncork() may wait to be told to the device all at once: one doorbell.
  /// Never waits for more than the queue holds. Pairs do not nest.
  virtual void cork() noexcept {}
  virtual void uncork() noexcept {}

  /// Makes sure that what was posted so far completes without any further posting, and that its
  /// completion means that the bytes are visible at the target (ORIEL_VISIBILITY). Called by flush,
  /// before it waits. Counts in `done` when it posts.
  [[nodiscard]] virtual PostResult seal(Completion& done) = 0;
  /// seal(), for who waits next; may finish what has completed by now. Many a wait is over with
  /// that one look, which costs less than a round of Progress, as it is at nobody else.
  [[nodiscard]] virtual PostResult seal_and_look(Completion& done) { return seal(done); }

  /// What `done` counts from here on is complete when everything is that was posted so far,
  /// whoever counts it. Called before memory is taken from the transport, whose bytes other windows
  /// may be moving.
  [[nodiscard]] virtual PostResult follow(Completion& /*done*/) { return PostResult::posted; }

  /// Asks for a sign of life of the peer: a dead one makes the endpoint fail some time later.
  /// Called while somebody waits for the peer with nothing outstanding. Never fails, never blocks.
  virtual void probe() noexcept = 0;

  /// Why the endpoint failed, or null. Once set it stays, and the object lives as long as the
  /// endpoint.
  [[nodiscard]] virtual const Error* failure() const noexcept = 0;

  /// "rxe0 port 1 gid 1 mtu 4096", "mapped + process_vm", …
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// All that is posted on an endpoint within a scope may share doorbells.
class Corked {
 public:
  explicit Corked(Endpoint& endpoint) noexcept : endpoint_(endpoint) { endpoint_.cork(); }
  ~Corked() { endpoint_.uncork(); }
  Corked(const Corked&) = delete;
  Corked& operator=(const Corked&) = delete;

 private:
  Endpoint& endpoint_;
};

}  // namespace oriel::transport
