#include "degen/service/guard.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::degen {

Watch watch(int beats, std::chrono::milliseconds silence) {
  for (;;) {
    pollfd wait{.fd = beats, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(silence.count()));
    if (ready < 0 && errno == EINTR) continue;
    check(ready, "wait for the service");
    if (ready == 0) return Watch::silent;
    std::array<char, 256> buffer;
    const auto count = ::read(beats, buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) throw_errno("hear the service");
    if (count == 0) return Watch::ended;
  }
}

Guard::Guard(std::vector<std::string> command, const RunDirectory& directory, const std::vector<OwnFd>& claims) {
  auto [read_end, write_end] = make_pipe(O_NONBLOCK);
  beats_ = std::move(write_end);
  const OwnFd self{static_cast<int>(check(::syscall(SYS_pidfd_open, ::getpid(), 0U), "open a pidfd of this process"))};
  ChildOptions options{.arguments = std::move(command), .die_with_parent = false, .new_process_group = true};
  options.descriptors = {
      {read_end.get(), GuardFds::kBeats}, {self.get(), GuardFds::kService}, {directory.lock(), GuardFds::kLock}};
  for (std::size_t i = 0; i < claims.size(); ++i)
    options.descriptors.emplace_back(claims[i].get(), GuardFds::kClaims + static_cast<int>(i));
  child_ = Child{options};
  beat();
}

void Guard::beat() const {
  const char one = 1;
  if (::write(beats_.get(), &one, 1) < 0 && errno != EAGAIN && errno != EINTR)
    log::debug("the guard does not hear: {}", errno_text(errno));
}

}  // namespace longhaul::degen
