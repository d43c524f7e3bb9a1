#pragma once
/// The untyped window that Window<T> is made of: everything in bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <oriel/export.hpp>
#include <oriel/team.hpp>

namespace oriel {

namespace window {
class WindowState;
}

/// Who carries out atomics on a window's words, on all ranks alike: CPU and NIC atomics on one word
/// are not atomic to each other.
enum class CoherenceDomain : std::uint8_t {
  cpu,          ///< all ranks on one machine: CPU atomics
  cpu_and_nic,  ///< CPU on the node, the device across: it says IBV_ATOMIC_GLOB
  nic,          ///< everything through the device, peers on the node and oneself included
};

[[nodiscard]] ORIEL_API std::string_view to_string(CoherenceDomain domain) noexcept;

/// See Window<T> for what the calls mean; here offsets and lengths are bytes.
class ORIEL_API WindowBytes {
 public:
  [[nodiscard]] static WindowBytes allocate(const Team& team, std::size_t bytes);
  [[nodiscard]] static WindowBytes create(const Team& team, std::span<std::byte> memory);
  WindowBytes(WindowBytes&&) noexcept;
  WindowBytes& operator=(WindowBytes&&) noexcept;
  ~WindowBytes();

  void free();

  [[nodiscard]] std::span<std::byte> local() const;
  [[nodiscard]] std::size_t size_bytes(Rank target) const;
  [[nodiscard]] const Team& team() const;
  [[nodiscard]] CoherenceDomain coherence() const;
  [[nodiscard]] std::string describe() const;

  void put(const void* source, std::size_t bytes, Rank target, std::size_t offset_bytes);
  void get(void* destination, std::size_t bytes, Rank target, std::size_t offset_bytes);
  void fetch_add(std::uint64_t operand, std::uint64_t& result, Rank target,
                 std::size_t offset_bytes);
  void compare_and_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t& result,
                        Rank target, std::size_t offset_bytes);

  void get_now(void* destination, std::size_t bytes, Rank target, std::size_t offset_bytes);
  [[nodiscard]] std::uint64_t fetch_add_now(std::uint64_t operand, Rank target,
                                            std::size_t offset_bytes);
  [[nodiscard]] std::uint64_t compare_and_swap_now(std::uint64_t compare, std::uint64_t swap,
                                                   Rank target, std::size_t offset_bytes);

  void flush(Rank target);
  void flush_all();
  void flush_local(Rank target);
  void flush_local_all();
  void fence();

 private:
  explicit WindowBytes(std::unique_ptr<window::WindowState> state) noexcept;
  [[nodiscard]] window::WindowState& checked(std::string_view operation) const;
  std::unique_ptr<window::WindowState> state_;
};

namespace window {
/// count * size, or a clear ErrorCode::out_of_range that names `operation` when 64 bits do not hold
/// it.
[[nodiscard]] ORIEL_API std::size_t checked_bytes(std::string_view operation, std::size_t count,
                                                  std::size_t element_bytes);

/// count * size, or the largest number when 64 bits do not hold it: no memory is that large, which
/// a collective call can then say on all ranks alike.
[[nodiscard]] constexpr std::size_t saturated_bytes(std::size_t count, std::size_t element_bytes) {
  constexpr std::size_t kMost = ~std::size_t{0};
  return count > kMost / element_bytes ? kMost : count * element_bytes;
}
}  // namespace window

}  // namespace oriel
