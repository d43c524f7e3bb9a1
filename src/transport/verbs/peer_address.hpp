#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "transport/transport.hpp"

namespace oriel::verbs {

/// What travels in transport::AddressBytes: where a process listens, and one exposed word.
struct PeerAddress {
  static constexpr std::uint32_t kMagic = 0x4f524c56;  // "ORLV"; also shows a foreign byte order

  std::uint32_t magic = kMagic;
  std::uint16_t family = AF_UNSPEC;
  std::uint16_t port = 0;                     ///< of the listener, host order
  std::array<std::uint8_t, 16> ip{};          ///< 4 or 16 bytes, network order
  std::uint64_t incarnation = 0;              ///< of the listening process
  std::uint64_t visibility_word_address = 0;  ///< what a flush may read to push writes before it
  std::uint32_t visibility_word_rkey = 0;
  transport::AtomicScope atomics = transport::AtomicScope::none;
  std::array<char, 35> device{};

  void set_socket_address(const sockaddr_storage& storage) noexcept {
    family = storage.ss_family;
    if (family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, &storage, sizeof v4);
      std::memcpy(ip.data(), &v4.sin_addr, 4);
    } else {
      sockaddr_in6 v6{};
      std::memcpy(&v6, &storage, sizeof v6);
      std::memcpy(ip.data(), &v6.sin6_addr, 16);
    }
  }

  [[nodiscard]] sockaddr_storage socket_address() const noexcept {
    sockaddr_storage storage{};
    if (family == AF_INET) {
      sockaddr_in v4{};
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      std::memcpy(&v4.sin_addr, ip.data(), 4);
      std::memcpy(&storage, &v4, sizeof v4);
    } else {
      sockaddr_in6 v6{};
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
      std::memcpy(&v6.sin6_addr, ip.data(), 16);
      std::memcpy(&storage, &v6, sizeof v6);
    }
    return storage;
  }

  void set_device(std::string_view name) noexcept {
    std::copy_n(name.begin(), std::min(name.size(), device.size() - 1), device.begin());
  }
  [[nodiscard]] std::string device_name() const { return device.data(); }

  [[nodiscard]] transport::AddressBytes to_bytes() const noexcept {
    transport::AddressBytes bytes{};
    std::memcpy(bytes.data(), this, sizeof *this);
    return bytes;
  }
  [[nodiscard]] static PeerAddress from_bytes(const transport::AddressBytes& bytes) noexcept {
    PeerAddress address;
    std::memcpy(&address, bytes.data(), sizeof address);
    return address;
  }
};
static_assert(sizeof(PeerAddress) <= sizeof(transport::AddressBytes));
static_assert(std::is_trivially_copyable_v<PeerAddress>);

/// "10.77.0.1:4711"
[[nodiscard]] std::string to_string(const sockaddr_storage& address);

}  // namespace oriel::verbs
