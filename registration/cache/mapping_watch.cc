#include "registration/cache/mapping_watch.hh"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::registration {
namespace {

// UFFD_USER_MODE_ONLY: then no privilege is needed (Linux 5.11). We are never asked to resolve a fault: write
// protection is asked for and never switched on.
constexpr int kUserModeOnly = 1;

std::uint64_t page_at(std::uint64_t address) {
  return address / kPageSize;
}

}  // namespace

Result<std::unique_ptr<MappingWatch>> MappingWatch::open(SharedCache& cache,
                                                         std::function<void(const std::vector<Eviction>&)> gone) {
  OwnFd fault{static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly))};
  if (!fault)
    return fail("userfaultfd: {}: mappings that go cannot be heard of, so nothing may be cached", errno_text(errno));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
  if (::ioctl(fault.get(), UFFDIO_API, &api) < 0)
    return fail("userfaultfd of this kernel tells of no unmapping: {}", errno_text(errno));
  OwnFd stop{check(::eventfd(0, EFD_CLOEXEC), "creating an eventfd")};
  return std::unique_ptr<MappingWatch>{new MappingWatch{cache, std::move(gone), std::move(fault), std::move(stop)}};
}

MappingWatch::MappingWatch(SharedCache& cache, std::function<void(const std::vector<Eviction>&)> gone, OwnFd fault,
                           OwnFd stop)
    : cache_(cache), gone_(std::move(gone)), fault_(std::move(fault)), stop_(std::move(stop)), thread_([this] {
        listen();
      }) {}

MappingWatch::~MappingWatch() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Result<void> MappingWatch::cover(Pages pages) {
  uffdio_register range{};
  range.range = {pages.first * kPageSize, pages.count * kPageSize};
  range.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fault_.get(), UFFDIO_REGISTER, &range) == 0) return {};
  return fail("{} bytes at {:#x} cannot be watched: {}", range.range.len, range.range.start, errno_text(errno));
}

void MappingWatch::listen() {
  pollfd fds[2] = {{fault_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(fds, 2, -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return;
    cache_.invalidate([this](std::vector<Pages>& gone) { hear(gone); });
    if (const auto idle = cache_.take_invalidated(); !idle.empty()) gone_(idle);
  }
}

// Reading an event lets the call go on that caused it.
void MappingWatch::hear(std::vector<Pages>& gone) const {
  const auto add = [&](std::uint64_t start, std::uint64_t end) {
    if (end > start) gone.push_back({page_at(start), page_at(end - 1) - page_at(start) + 1});
  };
  uffd_msg message{};
  while (::read(fault_.get(), &message, sizeof message) == sizeof message) {
    switch (message.event) {
      case UFFD_EVENT_UNMAP:
      case UFFD_EVENT_REMOVE:
        add(message.arg.remove.start, message.arg.remove.end);
        break;
      case UFFD_EVENT_REMAP:
        add(message.arg.remap.from, message.arg.remap.from + message.arg.remap.len);
        break;
      default:
        break;
    }
  }
}

}  // namespace longhaul::registration
