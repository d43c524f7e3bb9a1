#include "event_queue.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace oriel::fake_verbs {

EventFd::EventFd() : fd_(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "fake_verbs: eventfd");
}

EventFd::~EventFd() {
  ::close(fd_);
}

void EventFd::add() const {
  const std::uint64_t one = 1;
  if (::write(fd_, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) {
    throw std::system_error(errno, std::generic_category(), "fake_verbs: write to eventfd");
  }
}

void EventFd::take() const {
  std::uint64_t count = 0;
  if (::read(fd_, &count, sizeof count) != static_cast<ssize_t>(sizeof count)) {
    throw std::system_error(errno, std::generic_category(), "fake_verbs: read from eventfd");
  }
}

bool EventFd::wait() const {
  if ((::fcntl(fd_, F_GETFL) & O_NONBLOCK) != 0) {
    errno = EAGAIN;
    return false;
  }
  pollfd waited{fd_, POLLIN, 0};
  return ::poll(&waited, 1, -1) == 1;
}

}  // namespace oriel::fake_verbs
