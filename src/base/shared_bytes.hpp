#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oriel::base {

namespace detail {

template <class Word>
[[nodiscard]] bool is_aligned_for(const std::byte* address) noexcept {
  return std::bit_cast<std::uintptr_t>(address) % sizeof(Word) == 0;
}

template <class Word>
void store_word(std::byte* shared, const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref(*reinterpret_cast<Word*>(shared)).store(word, std::memory_order_release);
}

template <class Word>
void load_word(std::byte* to, const std::byte* shared) noexcept {
  auto& place = *reinterpret_cast<Word*>(const_cast<std::byte*>(shared));  // loads change nothing
  const Word word = std::atomic_ref(place).load(std::memory_order_acquire);
  std::memcpy(to, &word, sizeof word);
}

}  // namespace detail

/// Copies into memory that others look at meanwhile. A naturally aligned word of 1, 2, 4 or 8 bytes
/// is written whole, and after everything that this thread wrote before: whoever polls it never
/// sees half of it, nor sees it before what it announces. More bytes are a plain copy; the ranges
/// may overlap.
inline void store_bytes(std::byte* shared, const std::byte* from, std::size_t bytes) noexcept {
  using namespace detail;
  switch (bytes) {
    case 0:
      return;
    case 1:
      return store_word<std::uint8_t>(shared, from);
    case 2:
      if (is_aligned_for<std::uint16_t>(shared)) return store_word<std::uint16_t>(shared, from);
      break;
    case 4:
      if (is_aligned_for<std::uint32_t>(shared)) return store_word<std::uint32_t>(shared, from);
      break;
    case 8:
      if (is_aligned_for<std::uint64_t>(shared)) return store_word<std::uint64_t>(shared, from);
      break;
    default:
      break;
  }
  std::memmove(shared, from, bytes);
}

/// The counterpart: copies out of memory that others write to meanwhile.
inline void load_bytes(std::byte* to, const std::byte* shared, std::size_t bytes) noexcept {
  using namespace detail;
  switch (bytes) {
    case 0:
      return;
    case 1:
      return load_word<std::uint8_t>(to, shared);
    case 2:
      if (is_aligned_for<std::uint16_t>(shared)) return load_word<std::uint16_t>(to, shared);
      break;
    case 4:
      if (is_aligned_for<std::uint32_t>(shared)) return load_word<std::uint32_t>(to, shared);
      break;
    case 8:
      if (is_aligned_for<std::uint64_t>(shared)) return load_word<std::uint64_t>(to, shared);
      break;
    default:
      break;
  }
  std::memmove(to, shared, bytes);
}

}  // namespace oriel::base
