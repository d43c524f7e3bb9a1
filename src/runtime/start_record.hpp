#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/transport.hpp"

namespace oriel::runtime {

/// What every rank tells every other at start-up. The length and the first 64 bytes never change,
/// so that ranks of different versions understand each other well enough to say so.
struct StartRecord {
  static constexpr std::uint64_t kMagic = 0x314c454952'4fU;
  static constexpr std::uint32_t kProtocol = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t protocol = kProtocol;
  std::uint32_t reserved = 0;
  std::array<char, 48> version{};  ///< of the library, zero-terminated like all text here

  std::uint64_t nonce = 0;  ///< rank 0's is the job's: connections of other jobs are told by it
  std::uint64_t host_id = 0;
  std::int64_t pid = 0;
  std::array<char, 128> host{};
  std::array<char, 16> fabric{};  ///< options that must agree
  std::array<char, 16> visibility{};
  std::int32_t fake_nodes = 1;
  std::uint32_t usable_pus = 1;
  std::uint64_t cpus_hash = 0;  ///< equal on ranks bound to the same CPUs
  transport::AddressBytes shm_address{};
  std::array<char, 512> failure{};  ///< why this rank cannot start; empty if it can
  std::array<std::byte, 120> unused{};
};

static_assert(sizeof(StartRecord) == 1024);
static_assert(offsetof(StartRecord, nonce) == 64);

/// Copies text, cut to what fits with a terminating zero.
void set_text(std::span<char> field, std::string_view text) noexcept;
[[nodiscard]] std::string_view text_of(std::span<const char> field) noexcept;

/// Checks that the ranks fit together. Errors, the same on every rank: version_mismatch,
/// option_mismatch, peer_failed; naming ranks, hosts and values.
void check_start(std::span<const StartRecord> records);

}  // namespace oriel::runtime
