#pragma once
/// The private data of the connection manager's messages: who asks, and why not.

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace oriel::verbs {

inline constexpr std::uint32_t kHelloMagic = 0x4f524c48;  // "ORLH"
inline constexpr std::uint16_t kHelloVersion = 1;

/// Sent by the origin with its request. A listener takes nobody else: a port is reused within
/// minutes, and any program of the fabric may connect to it.
struct Hello {
  std::uint32_t magic = kHelloMagic;
  std::uint16_t version = kHelloVersion;
  std::uint16_t reserved = 0;
  std::uint64_t job_nonce = 0;
  std::int32_t origin_rank = 0;
  std::int32_t target_rank = 0;
  std::uint64_t target_incarnation =
      0;  ///< which process is meant, should its port be another's now
};
static_assert(sizeof(Hello) <= 56, "what a request over InfiniBand carries");
static_assert(std::is_trivially_copyable_v<Hello>);

enum class RejectReason : std::uint32_t {
  not_oriel = 1,
  other_version,
  other_job,
  other_rank,
  other_incarnation,
  no_resources,
};

[[nodiscard]] constexpr std::string_view to_string(RejectReason reason) noexcept {
  switch (reason) {
    case RejectReason::not_oriel:
      return "the request is not from Oriel";
    case RejectReason::other_version:
      return "the request is from another version of Oriel";
    case RejectReason::other_job:
      return "the request belongs to another job";
    case RejectReason::other_rank:
      return "the request is meant for another rank";
    case RejectReason::other_incarnation:
      return "the request is meant for an earlier process on this port";
    case RejectReason::no_resources:
      return "the device of the peer could not make a queue pair";
  }
  return "unknown reason";
}

struct Rejection {
  std::uint32_t magic = kHelloMagic;
  RejectReason reason = RejectReason::not_oriel;
  std::int32_t system_errno = 0;
};

}  // namespace oriel::verbs
