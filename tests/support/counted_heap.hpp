#pragma once
/// Replaces operator new by one that counts what a thread takes from the heap. For one file of a
/// program alone: replacements are not inline.

#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace oriel::test::heap {

inline thread_local long allocations = 0;  ///< of this thread so far
inline thread_local long held = 0;         ///< bytes that it has taken, without those given back

inline void* take(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  held += static_cast<long>(::malloc_usable_size(memory));
  return memory;
}
inline void give_back(void* memory) noexcept {
  held -= static_cast<long>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace oriel::test::heap

// Those that take an alignment are left as they are: nothing in these tests is over-aligned.
void* operator new(std::size_t bytes) {
  return oriel::test::heap::take(bytes);
}
void* operator new[](std::size_t bytes) {
  return oriel::test::heap::take(bytes);
}
void operator delete(void* memory) noexcept {
  oriel::test::heap::give_back(memory);
}
void operator delete[](void* memory) noexcept {
  oriel::test::heap::give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  oriel::test::heap::give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  oriel::test::heap::give_back(memory);
}
