// MPI_Alloc_mem: memory that the device knows, from which puts and gets travel without a copy, and
// that other ranks of the machine map when a window is made over it.

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <oriel/buffer.hpp>
#include <oriel/error.hpp>

#include "base/log.hpp"
#include "mpi/idle_memory.hpp"
#include "mpi/job.hpp"

namespace oriel::mpi {
namespace {

/// What MPI_Alloc_mem has given and not got back. Each takes pages and a descriptor, of which a
/// process has a thousand or so: beyond a share of them, memory is MPI's own. Some programs ask for
/// thousands, one after the other: what comes back is kept for the next, as pages are dear.
class Allocations {
 public:
  /// Null where MPI is to give the memory.
  void* add(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    auto buffer = idle_.take(bytes);
    if (!buffer && buffers_.size() + idle_.size() >= kMost) return nullptr;
    if (!buffer) buffer = make(idle_.room_for(bytes));
    void* const base = buffer->bytes().data();
    buffers_.emplace(base, std::move(buffer));
    return base;
  }
  /// Whether it was one of these. Its end waits for nobody.
  bool remove(void* base) {
    const std::scoped_lock lock(mutex_);
    const auto found = buffers_.find(base);
    if (found == buffers_.end()) return false;
    auto buffer = std::move(found->second);
    buffers_.erase(found);
    const std::size_t bytes = buffer->bytes().size();
    if (!is_running())
      static_cast<void>(buffer.release());  // the runtime went before it
    else
      idle_.keep(bytes, std::move(buffer));
    return true;
  }
  /// The runtime ends: nobody asks for more.
  void forget_idle() noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.clear();
  }

 private:
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostIdleBytes = std::size_t{128} << 20U;

  std::unique_ptr<BufferBytes> make(std::size_t bytes) {
    try {
      return make_buffer(bytes);
    } catch (const Error&) {
      if (idle_.size() == 0) throw;
      idle_.clear();  // a device may pin so much and no more, and what is idle is part of that
      return make_buffer(bytes);
    }
  }

  std::mutex mutex_;
  std::map<void*, std::unique_ptr<BufferBytes>> buffers_;
  IdleMemory<std::unique_ptr<BufferBytes>> idle_{kMostIdleBytes};
};

Allocations& allocations() noexcept {
  static auto* const instance = new Allocations;  // what a program keeps beyond MPI stays readable
  return *instance;
}

void* allocate(MPI_Aint bytes) noexcept {
  if (!is_running() || bytes <= 0) return nullptr;
  try {
    return allocations().add(static_cast<std::size_t>(bytes));
  } catch (const std::exception& error) {
    base::log(base::LogLevel::info, "MPI_Alloc_mem: MPI gives the memory: {}", error.what());
    return nullptr;
  }
}

}  // namespace

void forget_idle_memory() noexcept {
  allocations().forget_idle();
}

}  // namespace oriel::mpi

extern "C" int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  void* const base = oriel::mpi::allocate(size);
  if (base == nullptr) return PMPI_Alloc_mem(size, info, baseptr);
  std::memcpy(baseptr, &base, sizeof base);
  return MPI_SUCCESS;
}

extern "C" int MPI_Free_mem(void* base) {
  return oriel::mpi::allocations().remove(base) ? MPI_SUCCESS : PMPI_Free_mem(base);
}
