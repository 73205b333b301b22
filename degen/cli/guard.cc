#include "degen/service/guard.hh"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "common/error.hh"
#include "common/log.hh"
#include "degen/cli/commands.hh"
#include "degen/engines/engine.hh"
#include "degen/service/claim.hh"
#include "degen/service/controller.hh"

namespace longhaul::degen {
namespace {

// A service that was stopped or hangs does not hear a signal that it could handle.
void kill(int service) {
  if (::syscall(SYS_pidfd_send_signal, service, SIGKILL, nullptr, 0U) != 0 && errno != ESRCH)
    log::error("cannot end degen: {}", errno_text(errno));
}

void wait_for_its_end(int service) {
  pollfd wait{.fd = service, .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, -1) < 0)
    if (errno != EINTR) throw_errno("wait for degen's end");
}

}  // namespace

Result<ExitCode> guard(const ServeOptions& options) {
  // What ends a service (a terminal's Ctrl-C, its supervisor) must not end who clears up behind it.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  log_to_stderr("degen", LogLine::is_dropped);
  const OwnFd beats{GuardFds::kBeats};
  const OwnFd service{GuardFds::kService};
  const auto directory = RunDirectory::inherit(options.run_directory, OwnFd{GuardFds::kLock});
  if (watch(beats.get(), kSilence) == Watch::silent) {
    log::error("degen has been silent for {} ms: it is ended", kSilence.count());
    kill(service.get());
  }
  wait_for_its_end(service.get());
  if (directory.read(kOwnershipFile).empty()) return ExitCode::ok;  // it ended in order

  ImpairmentController controller{[&options] { return sides_of(options); }, make_engines({}), directory};
  for (;;) {
    for (const auto& what : controller.sweep(unclaimed)) log::warn("degen is gone; removed what it left: {}", what);
    if (controller.clean()) return ExitCode::ok;
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace longhaul::degen
