#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace oriel::base {

/// Where ranks are threads of one process they see shared memory at two addresses. ThreadSanitizer
/// knows memory by its address, and so does not see that an atomic at one hands over what is read
/// at the other; these two, beside the atomic's store and load, tell it. Else they are nothing.
#if defined(__SANITIZE_THREAD__)
inline std::byte handed_over{};
inline void hand_over_by_alias() noexcept {
  __tsan_release(&handed_over);
}
inline void take_over_by_alias() noexcept {
  __tsan_acquire(&handed_over);
}
#else
inline void hand_over_by_alias() noexcept {}
inline void take_over_by_alias() noexcept {}
#endif

}  // namespace oriel::base
