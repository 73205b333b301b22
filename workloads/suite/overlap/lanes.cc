#include "workloads/suite/overlap/lanes.hh"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"

namespace longhaul::workloads::overlap {
namespace {

using namespace std::chrono_literals;

constexpr int kGlance = 20;          // ms that the helper sleeps at most before it looks whether it is still wanted
constexpr Nanoseconds kAlone = 2ms;  // for the computation by itself after each exchange that had it
constexpr std::int64_t kMostAlone = 9;
constexpr auto kMoment = 1ms;

}  // namespace

void OverlapLane::start() {
  kind_ = kind_ == Kind::total ? Kind::pure : Kind::total;
  exchange_.start();
  if (kind_ == Kind::total) work_.run();
}

void OverlapLane::inspect() {
  if (kind_ != Kind::total) return;
  // Short ones often: across a WAN there are few exchanges in a window.
  const auto times = std::clamp<std::int64_t>(kAlone / std::max(work_.length(), 1ns), 1, kMostAlone);
  for (std::int64_t i = 0; i < times; ++i) {
    const auto taken = work_.time();
    alone_.record(taken.count());
    work_.learn(taken);
  }
}

HelpedLane::HelpedLane(Lane& exchange) : exchange_(exchange), helper_([this](std::stop_token stop) { help(stop); }) {}

HelpedLane::~HelpedLane() {
  helper_.request_stop();
  changed_.notify_all();
}

void HelpedLane::start() {
  exchange_.start();
  {
    const std::lock_guard lock{mutex_};
    state_ = State::under_way;
  }
  changed_.notify_all();
}

bool HelpedLane::advance() {
  std::unique_lock lock{mutex_};
  if (!changed_.wait_for(lock, kMoment, [this] { return state_ == State::done; })) return false;
  if (broken_) std::rethrow_exception(broken_);
  state_ = State::idle;
  return true;
}

void HelpedLane::help(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock{mutex_};
      if (!changed_.wait(lock, stop, [this] { return state_ == State::under_way; })) return;
    }
    std::exception_ptr broken;
    try {
      if (!see_through(stop)) return;
    } catch (const std::exception&) {
      broken = std::current_exception();
    }
    {
      const std::lock_guard lock{mutex_};
      broken_ = broken;
      state_ = State::done;
    }
    changed_.notify_all();
    if (broken) return;
  }
}

bool HelpedLane::see_through(const std::stop_token& stop) {
  auto& waitable = exchange_.waitable();
  while (!exchange_.advance()) {
    if (stop.stop_requested()) return false;
    if (!waitable.arm()) continue;
    pollfd wanted{waitable.event_fd(), static_cast<short>(waitable.wait_events()), 0};
    if (::poll(&wanted, 1, kGlance) < 0 && errno != EINTR) throw_errno("wait for a connection");
  }
  return true;
}

}  // namespace longhaul::workloads::overlap
