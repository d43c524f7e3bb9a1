#include "transport/shm/peer_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/signals_blocked.hpp"
#include "base/throw_error.hpp"

namespace oriel::shm {

PeerWatch::PeerWatch(std::span<const transport::Peer* const> peers, transport::PeerHealth& health)
    : health_(health), stop_(::eventfd(0, EFD_CLOEXEC)) {
  for (const transport::Peer* peer : peers) {
    if (peer->pid == ::getpid()) continue;
    base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, peer->pid, 0)));
    if (pidfd) {
      watched_.push_back({peer, std::move(pidfd)});
    } else if (errno == ESRCH) {
      health_.report_dead(peer->rank, fmt::format("its process {} is gone", peer->pid));
    } else {
      base::log(base::LogLevel::warning, "rank {} cannot be watched: pidfd_open: {}", peer->rank,
                base::errno_text(errno));
    }
  }
  const base::SignalsBlocked blocked;
  if (!watched_.empty()) thread_ = std::thread([this] { run(); });
}

PeerWatch::~PeerWatch() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void PeerWatch::run() {
  std::vector<pollfd> fds{{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (const Watched& one : watched_) {
    fds.push_back({.fd = one.pidfd.get(), .events = POLLIN, .revents = 0});
  }
  for (;;) {
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if ((fds[0].revents & POLLIN) != 0) return;
    for (std::size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      const transport::Peer& peer = *watched_[i - 1].peer;
      health_.report_dead(peer.rank, fmt::format("its process {} has ended", peer.pid));
      fds[i].fd = -1;  // poll() skips it from now on
    }
  }
}

}  // namespace oriel::shm
