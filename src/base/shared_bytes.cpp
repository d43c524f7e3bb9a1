#include <oriel/shared_bytes.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace oriel::detail {

constinit thread_local bool has_stored = false;

#ifdef __SSE2__
namespace {

constexpr std::size_t kVector = sizeof(__m128i);
constexpr std::size_t kLine = 4 * kVector;

/// Whole lines, to a multiple of kVector.
void stream_lines(std::byte* to, const std::byte* from, std::size_t lines) noexcept {
  for (; lines != 0; --lines, to += kLine, from += kLine) {
    __m128i line[4];
    std::memcpy(line, from, kLine);
    for (std::size_t part = 0; part < 4; ++part)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + part, line[part]);
  }
  _mm_sfence();  // before whatever announces them
}

}  // namespace

void copy_many_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const auto target = std::bit_cast<std::uintptr_t>(to);
  const auto source = std::bit_cast<std::uintptr_t>(from);
  const bool apart = target + bytes <= source || source + bytes <= target;
  if (!apart) {
    std::memmove(to, from, bytes);
    return;
  }
  const std::size_t head = (kVector - target % kVector) % kVector;
  const std::size_t lines = (bytes - head) / kLine;
  const std::size_t streamed = head + lines * kLine;
  std::memcpy(to, from, head);
  stream_lines(to + head, from + head, lines);
  std::memcpy(to + streamed, from + streamed, bytes - streamed);
}
#else
void copy_many_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memmove(to, from, bytes);
}
#endif

}  // namespace oriel::detail
