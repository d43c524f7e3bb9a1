#include "mpi/win.hpp"

#include <deque>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace oriel::mpi {

const char Win::kMark = 0;
const char Win::kEnded = 0;

/// The handles of all windows. They are never freed, only used again: a handle that a program keeps
/// beyond the window's end is found to be none.
class Handles {
 public:
  static Handles& all() noexcept {
    static auto* const instance = new Handles;  // programs may ask until the process ends
    return *instance;
  }
  Win::Handle* add(Win* window) {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      handles_.push_back({.index = kFirst + static_cast<MPI_Fint>(handles_.size())});
      free_.reserve(handles_.size());  // remove() does not allocate
      free_.push_back(&handles_.back());
    }
    ++alive_;
    Win::Handle* const handle = free_.back();
    free_.pop_back();
    handle->window = window;
    handle->mark = &Win::kMark;
    return handle;
  }
  void remove(Win::Handle* handle) noexcept {
    const std::scoped_lock lock(mutex_);
    handle->mark = &Win::kEnded;
    free_.push_back(handle);
    --alive_;
  }
  [[nodiscard]] std::size_t alive() {
    const std::scoped_lock lock(mutex_);
    return alive_;
  }
  Win* find(MPI_Fint index) {
    const std::scoped_lock lock(mutex_);
    const auto at = static_cast<std::size_t>(index - kFirst);
    if (index < kFirst || at >= handles_.size() || handles_[at].mark != &Win::kMark) return nullptr;
    return handles_[at].window;
  }

 private:
  static constexpr MPI_Fint kFirst = 1 << 24;  // MPI counts its own windows from 0 on
  std::mutex mutex_;
  std::deque<Win::Handle> handles_;
  std::vector<Win::Handle*> free_;
  std::size_t alive_ = 0;
};

Win* Win::of_fortran(MPI_Fint index) noexcept {
  return Handles::all().find(index);
}
std::size_t Win::alive() noexcept {
  return Handles::all().alive();
}
MPI_Fint Win::fortran() const noexcept {
  return handle_->index;
}
MPI_Win Win::handle() const noexcept {
  return reinterpret_cast<MPI_Win>(handle_);
}

Win::Win(WindowBytes made, MPI_Comm comm, int made_as)
    : window(std::move(made)),
      flavor(made_as),
      epochs(static_cast<std::size_t>(window.team().size())),
      handle_(Handles::all().add(this)),
      size_(window.team().size()),
      rank_(static_cast<int>(window.team().rank())) {
  PMPI_Comm_group(comm, &group);
}

Win::~Win() {
  Handles::all().remove(handle_);
  if (group != MPI_GROUP_NULL) PMPI_Group_free(&group);
  if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
}

void Win::check_rank(int rank) const {
  if (rank < 0 || rank >= size_)
    fail(MPI_ERR_RANK, fmt::format("rank {} of a window of {} ranks", rank, size_));
}

}  // namespace oriel::mpi
