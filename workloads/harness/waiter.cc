#include "workloads/harness/waiter.hh"

#include <algorithm>
#include <cerrno>

#include "common/error.hh"

namespace longhaul::workloads {
namespace {

constexpr std::uint64_t kWake = ~std::uint64_t{0};

}  // namespace

Waiter::Waiter(const Lanes& lanes, const std::vector<int>& wake_fds)
    : epoll_(check(::epoll_create1(EPOLL_CLOEXEC), "create an epoll descriptor")) {
  for (const auto& lane : lanes) {
    auto& waitable = lane->waitable();
    const auto events = waitable.wait_events();
    // Lanes may share a descriptor, which epoll takes once.
    const bool known = std::any_of(watched_.begin(), watched_.end(), [&](const Watched& other) {
      return other.waitable->event_fd() == waitable.event_fd();
    });
    if (!known) control(EPOLL_CTL_ADD, waitable.event_fd(), events, watched_.size());
    watched_.push_back({&waitable, events});
  }
  for (const int fd : wake_fds)
    if (fd >= 0) control(EPOLL_CTL_ADD, fd, EPOLLIN, kWake);
  found_.resize(watched_.size() + wake_fds.size());
}

void Waiter::control(int operation, int fd, std::uint32_t events, std::uint64_t mark) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = mark;
  check(::epoll_ctl(epoll_.get(), operation, fd, &event), "watch a connection");
}

bool Waiter::sleep(Nanoseconds timeout) {
  bool ready = false;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    auto& one = watched_[i];
    if (!one.waitable->arm()) ready = true;
    const auto events = one.waitable->wait_events();
    if (events != one.events) control(EPOLL_CTL_MOD, one.waitable->event_fd(), events, i);
    one.events = events;
  }
  if (ready) return false;
  const int milliseconds = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  const int count = ::epoll_wait(epoll_.get(), found_.data(), static_cast<int>(found_.size()), milliseconds);
  if (count < 0 && errno != EINTR) throw_errno("wait for events");
  for (int i = 0; i < count; ++i)
    if (found_[static_cast<std::size_t>(i)].data.u64 == kWake) return true;
  return count <= 0;
}

}  // namespace longhaul::workloads
