#include "workloads/harness/waiter.hh"

#include <cerrno>

#include "common/error.hh"

namespace longhaul::workloads {
namespace {

constexpr std::uint64_t kWake = ~std::uint64_t{0};

}  // namespace

Waiter::Waiter(const Lanes& lanes, const std::vector<int>& wake_fds, Nanoseconds timeout)
    : epoll_(check(::epoll_create1(EPOLL_CLOEXEC), "create an epoll descriptor")),
      milliseconds_(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count())) {
  for (const auto& lane : lanes) {
    auto& waitable = lane->waitable();
    const auto events = waitable.wait_events();
    control(EPOLL_CTL_ADD, waitable.event_fd(), events, watched_.size());
    watched_.push_back({&waitable, events});
  }
  for (const int fd : wake_fds)
    if (fd >= 0) control(EPOLL_CTL_ADD, fd, EPOLLIN, kWake);
  found_.resize(watched_.size() + wake_fds.size());
  if (lanes.size() == 1) nudge_.emplace(timeout, wake_fds);
}

void Waiter::control(int operation, int fd, std::uint32_t events, std::uint64_t mark) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = mark;
  check(::epoll_ctl(epoll_.get(), operation, fd, &event), "watch a connection");
}

bool Waiter::sleep() {
  if (nudge_) {
    if (Nudge::due()) return true;
    const auto slept = watched_.front().waitable->block();
    if (slept == Slept::interrupted) Nudge::due();  // that was it
    if (slept != Slept::cannot) return slept == Slept::interrupted;
  }
  bool ready = false;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    auto& one = watched_[i];
    if (!one.waitable->arm()) ready = true;
    const auto events = one.waitable->wait_events();
    if (events != one.events) control(EPOLL_CTL_MOD, one.waitable->event_fd(), events, i);
    one.events = events;
  }
  if (ready) return false;
  const int count = ::epoll_wait(epoll_.get(), found_.data(), static_cast<int>(found_.size()), milliseconds_);
  if (count < 0 && errno != EINTR) throw_errno("wait for events");
  for (int i = 0; i < count; ++i)
    if (found_[static_cast<std::size_t>(i)].data.u64 == kWake) return true;
  return count <= 0;
}

}  // namespace longhaul::workloads
