#pragma once

#include <pthread.h>

#include <bit>

namespace oriel::base {

/// Tells threads that are alive apart: by a register where the compiler names it, else by a call.
[[nodiscard]] inline const void* this_thread() noexcept {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
  return __builtin_thread_pointer();
#else
  return std::bit_cast<const void*>(::pthread_self());
#endif
}

}  // namespace oriel::base
