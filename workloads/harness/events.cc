#include "workloads/harness/events.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "common/frame.hh"
#include "common/log.hh"
#include "observe/clock.hh"

namespace longhaul::workloads {

Result<Events> Events::from_environment() {
  const char* text = std::getenv("LONGHAUL_EVENT_FD");
  if (text == nullptr) return Events{};
  int fd = -1;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), fd);
  if (error != std::errc{} || *end != '\0' || fd < 0 || ::fcntl(fd, F_GETFD) < 0)
    return refuse("LONGHAUL_EVENT_FD='{}' is not an open descriptor", text);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Events{OwnFd{fd}};
}

void Events::emit(BenchEvent event) {
  if (!fd_) return;
  event.time = observe::wall_time();
  const auto frame = encode_frame(to_json(event));
  std::string_view rest{frame};
  while (!rest.empty()) {
    const auto written = ::write(fd_.get(), rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd fd{fd_.get(), POLLOUT, 0};
      ::poll(&fd, 1, -1);
    } else if (errno != EINTR) {
      log::warn("the supervisor does not take events any more: {}", errno_text(errno));
      fd_.reset();
      return;
    }
  }
}

void Events::emit(BenchEventKind kind, std::optional<std::string> message) {
  BenchEvent event;
  event.kind = kind;
  event.message = std::move(message);
  emit(std::move(event));
}

void Events::conclude(const Attempt<NodeRecord>& outcome) {
  BenchEvent event;
  if (outcome) {
    event.kind = BenchEventKind::record;
    event.record = *outcome;
  } else {
    event.kind = outcome.error().status == Status::unsupported ? BenchEventKind::unsupported : BenchEventKind::failed;
    event.message = outcome.error().message;
  }
  emit(std::move(event));
}

}  // namespace longhaul::workloads
