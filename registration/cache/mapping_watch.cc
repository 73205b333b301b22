#include "registration/cache/mapping_watch.hh"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::registration {
namespace {

// UFFD_USER_MODE_ONLY: then no privilege is needed (Linux 5.11). We are never asked to resolve a fault: write
// protection is asked for and never switched on.
constexpr int kUserModeOnly = 1;
constexpr std::size_t kRoom = 64;  // ranges

Pages pages_between(std::uint64_t start, std::uint64_t end) {
  return {start / kPageSize, (end - 1) / kPageSize - start / kPageSize + 1};
}

auto first_behind(const std::vector<Pages>& covered, std::uint64_t page) {
  return std::find_if(covered.begin(), covered.end(), [page](const Pages& one) { return one.end() > page; });
}

// The covered ranges are in a vector that the watch's thread never reallocates: memory that it frees
// may be memory that is watched, whose unmapping would wait for the watch itself.

// Joined with what it touches. There is room for one more.
void insert(std::vector<Pages>& covered, Pages pages) {
  auto first = pages.first;
  auto end = pages.end();
  const auto from = std::find_if(covered.begin(), covered.end(), [&](const Pages& one) { return one.end() >= first; });
  auto to = from;
  for (; to != covered.end() && to->first <= end; ++to) {
    first = std::min(first, to->first);
    end = std::max(end, to->end());
  }
  covered.insert(covered.erase(from, to), {first, end - first});
}

// If a range falls in two and there is no room for both, its end counts as not covered: it is covered again when
// asked for.
void remove(std::vector<Pages>& covered, Pages gone) {
  for (auto one = covered.begin(); one != covered.end();) {
    const auto end = one->end();
    if (one->first >= gone.end() || end <= gone.first) {
      ++one;
      continue;
    }
    const bool before = one->first < gone.first;
    const bool behind = end > gone.end();
    if (before) {
      one->count = gone.first - one->first;
      ++one;
      if (behind && covered.size() < covered.capacity())
        one = std::next(covered.insert(one, {gone.end(), end - gone.end()}));
    } else if (behind) {
      *one = {gone.end(), end - gone.end()};
      ++one;
    } else {
      one = covered.erase(one);
    }
  }
}

}  // namespace

Result<std::unique_ptr<MappingWatch>> MappingWatch::open(SharedCache& cache, std::function<void()> invalidated) {
  OwnFd fault{static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly))};
  if (!fault)
    return fail("userfaultfd: {}: mappings that go cannot be heard of, so nothing may be cached", errno_text(errno));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
  if (::ioctl(fault.get(), UFFDIO_API, &api) < 0)
    return fail("userfaultfd of this kernel tells of no unmapping: {}", errno_text(errno));
  OwnFd stop{check(::eventfd(0, EFD_CLOEXEC), "creating an eventfd")};
  return std::unique_ptr<MappingWatch>{
      new MappingWatch{cache, std::move(invalidated), std::move(fault), std::move(stop)}};
}

MappingWatch::MappingWatch(SharedCache& cache, std::function<void()> invalidated, OwnFd fault, OwnFd stop)
    : cache_(cache),
      invalidated_(std::move(invalidated)),
      fault_(std::move(fault)),
      stop_(std::move(stop)),
      thread_([this] { listen(); }) {}

MappingWatch::~MappingWatch() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Result<void> MappingWatch::cover(Pages pages) {
  std::vector<Pages> larger;  // freed when the lock is: freeing may unmap
  const std::scoped_lock lock{mutex_};
  if (covers_locked(pages)) return {};
  uffdio_register range{};
  range.range = {pages.first * kPageSize, pages.count * kPageSize};
  range.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fault_.get(), UFFDIO_REGISTER, &range) < 0)
    return fail("{} bytes at {:#x} cannot be watched: {}", range.range.len, range.range.start, errno_text(errno));
  if (covered_.size() + kRoom / 2 > covered_.capacity()) {
    larger.reserve(2 * covered_.size() + kRoom);
    larger.assign(covered_.begin(), covered_.end());
    covered_.swap(larger);
  }
  insert(covered_, pages);
  return {};
}

bool MappingWatch::covers_locked(Pages pages) const {
  const auto around = first_behind(covered_, pages.first);
  return around != covered_.end() && around->first <= pages.first && around->end() >= pages.end();
}

bool MappingWatch::covers(Pages pages) const {
  const std::scoped_lock lock{mutex_};
  return covers_locked(pages);
}

std::size_t MappingWatch::ranges() const {
  const std::scoped_lock lock{mutex_};
  return covered_.size();
}

// The kernel counts a call that takes a mapping away from before it does so until its event is read, and refuses write
// protection meanwhile (EAGAIN), before it looks at the argument: no pages, which are refused (EINVAL). A null pointer
// would do, too (EFAULT), but its page fault costs more than the rest of the call.
bool MappingWatch::settled() const {
  uffdio_writeprotect nothing{};
  return ::ioctl(fault_.get(), UFFDIO_WRITEPROTECT, &nothing) == 0 || errno != EAGAIN;
}

void MappingWatch::settle() const {
  while (!settled()) std::this_thread::yield();
}

void MappingWatch::listen() {
  pollfd fds[2] = {{fault_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(fds, 2, -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return;
    cache_.invalidate([this](std::vector<Pages>& gone) { hear(gone); });
    invalidated_();
  }
}

// Reading an event lets the call go on that caused it. The lock is held until what it says is in the books: who finds
// nothing pending may cover what it has mapped there since.
void MappingWatch::hear(std::vector<Pages>& gone) {
  const std::scoped_lock lock{mutex_};
  const auto add = [&](std::uint64_t start, std::uint64_t end, bool mapped) {
    if (end <= start) return;
    gone.push_back(pages_between(start, end));
    if (!mapped) remove(covered_, gone.back());
  };
  uffd_msg message{};
  while (::read(fault_.get(), &message, sizeof message) == sizeof message) {
    switch (message.event) {
      case UFFD_EVENT_UNMAP:
        add(message.arg.remove.start, message.arg.remove.end, false);
        break;
      case UFFD_EVENT_REMOVE:
        add(message.arg.remove.start, message.arg.remove.end, true);
        break;
      case UFFD_EVENT_REMAP:
        add(message.arg.remap.from, message.arg.remap.from + message.arg.remap.len, false);
        break;
      default:
        break;
    }
  }
}

}  // namespace longhaul::registration
