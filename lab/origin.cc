#include "lab/origin.hh"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <mutex>

#include "common/error.hh"
#include "common/log.hh"
#include "common/memory_file.hh"
#include "lab/emulator.hh"
#include "lab/sealed_ports.hh"
#include "lab/sealed_vm.hh"

namespace longhaul::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kWarmUpTime = std::chrono::minutes{5};
constexpr auto kMachineGlance = std::chrono::milliseconds{100};
constexpr int kEndCode = 1;  // isa-debug-exit's for the guest's 0
constexpr int kTries = 10;   // where copies are killed

tl::unexpected<Error> interrupted_by_user() {
  return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
}

/// True if there is something to read, or the other side has gone, within a glance.
bool readable(const OwnFd& fd) {
  pollfd entry{.fd = fd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, static_cast<int>(kMachineGlance.count())) > 0;
}

// QEMU's -fork-server: a word for each descriptor from the second on; the first is told how the copy ended.
template <std::size_t N>
bool send_request(int socket, const std::string& words, const std::array<int, N>& descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  iovec text{.iov_base = const_cast<char*>(words.data()), .iov_len = words.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

}  // namespace

/// A copy that is being made ends when `status` is closed.
struct CopyInFlight {
  OwnFd status;
  SealedOutput output;
};

class Origin::Running {
 public:
  explicit Running(SealedVm vm) : vm_(std::move(vm)) {}

  bool alive() { return !vm_.child.poll(); }

  /// Its end, if it has ended.
  std::optional<ChildExit> ended() { return vm_.child.wait(kMachineGlance); }

  /// Waits until it serves.
  Result<void> await_ready(const CopyLimits& limits) {
    const auto deadline = Clock::now() + kWarmUpTime;
    while (!readable(vm_.control)) {
      if (limits.cancelled && limits.cancelled()) return interrupted_by_user();
      if (Clock::now() > deadline)
        return fail("the sealed lab hangs while it warms up: it was ended after {} s{}",
                    std::chrono::duration_cast<std::chrono::seconds>(kWarmUpTime).count(), vm_.output.why());
      if (const auto excess = vm_.output.excess(); !excess.empty())
        return fail("the sealed lab was ended while it warmed up: it {}", excess);
    }
    char ready = 0;
    if (::recv(vm_.control.get(), &ready, sizeof ready, 0) == 1) return {};
    const auto said = file_content(vm_.output.said.get(), kMostSaid);
    return fail("the sealed lab does not warm up{}{}", said.empty() ? "" : ": " + said, vm_.output.why());
  }

  /// Empty: it has gone.
  std::optional<CopyInFlight> copy(const std::string& order) {
    CopyInFlight copy;
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "creating a socket pair");
    copy.status = OwnFd{ends[0]};
    const OwnFd theirs{ends[1]}, file{memory_file("order", order)};
    const auto words = fmt::format("fw_cfg:{} chardev:{} chardev:{} stderr", kOrderName, kSayName, kConsoleName);
    const std::array descriptors{theirs.get(), file.get(), copy.output.said.get(), copy.output.console.get(),
                                 copy.output.complaints.get()};
    if (!send_request(vm_.control.get(), words, descriptors)) return std::nullopt;
    return copy;
  }

 private:
  SealedVm vm_;
};

struct Origin::State {
  SealedImage image;
  std::mutex mutex;
  std::shared_ptr<Running> running;
  std::optional<Error> broken;  ///< it does not warm up, and so it will be each time
};

Origin::Origin(SealedImage image) : state_(std::make_unique<State>()) {
  state_->image = std::move(image);
}
Origin::~Origin() = default;

/// Empty: it was killed by somebody while it warmed up.
Result<std::shared_ptr<Origin::Running>> Origin::running(const CopyLimits& limits) {
  const std::lock_guard held{state_->mutex};
  if (state_->running && state_->running->alive()) return state_->running;
  if (state_->broken) return tl::unexpected(*state_->broken);
  const auto emulator = build_emulator();
  if (!emulator) return tl::unexpected(emulator.error());
  const auto& image = state_->image;
  auto arguments = sealed_hardware(*emulator, image.clock, image.directory + "/kernel", image.directory + "/initrd");
  arguments.insert(arguments.end(), {"-incoming", "file:" + image.directory + "/memory", "-fork-server",
                                     fmt::format("fd={}", kControlFd)});
  auto fresh = std::make_shared<Running>(start_sealed_vm(std::move(arguments), Control::fork_server));
  if (auto ready = fresh->await_ready(limits); !ready) {
    const auto ended = fresh->ended();
    if (ready.error().exit_code == ExitCode::interrupted || !ended) return tl::unexpected(ready.error());
    if (ended->signal) return std::shared_ptr<Running>{};
    state_->broken = ready.error();
    return tl::unexpected(ready.error());
  }
  return state_->running = std::move(fresh);
}

// One that does not answer is dying, if it can still be seen: it must not be asked again.
void Origin::forget(const std::shared_ptr<Running>& gone) {
  const std::lock_guard held{state_->mutex};
  if (state_->running == gone) state_->running.reset();
}

/// Empty: it was killed by somebody, and nothing is known of the order.
Result<std::optional<std::string>> Origin::try_copy(const std::string& order, const CopyLimits& limits) {
  const auto origin = running(limits);
  if (!origin) return tl::unexpected(origin.error());
  if (!*origin) return std::nullopt;
  const auto copy = (*origin)->copy(order);
  if (!copy) {
    forget(*origin);
    return std::nullopt;
  }
  const auto deadline = Clock::now() + limits.wall;
  while (!readable(copy->status)) {
    if (limits.cancelled && limits.cancelled()) return interrupted_by_user();
    if (Clock::now() > deadline)
      return fail("a copy of the sealed lab hangs: it was ended after {} s{}",
                  std::chrono::duration_cast<std::chrono::seconds>(limits.wall).count(), copy->output.why());
    if (const auto excess = copy->output.excess(); !excess.empty())
      return fail("a copy of the sealed lab was ended: it {}", excess);
  }
  int status = 0;
  if (::recv(copy->status.get(), &status, sizeof status, 0) != sizeof status) {
    forget(*origin);
    return std::nullopt;
  }
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM)) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kEndCode)
    return fail("a copy of the sealed lab died: {}{}",
                WIFSIGNALED(status) ? ChildExit{.code = {}, .signal = WTERMSIG(status)}.text()
                                    : ChildExit{.code = WEXITSTATUS(status), .signal = {}}.text(),
                copy->output.why());
  if (const auto excess = copy->output.excess(); !excess.empty()) return fail("a copy of the sealed lab {}", excess);
  auto said = file_content(copy->output.said.get(), kMostSaid);
  // A copy that cannot begin ends with the same code.
  if (said.empty()) return fail("a copy of the sealed lab ended without a word{}", copy->output.why());
  return said;
}

Result<std::string> Origin::copy(const std::string& order, const CopyLimits& limits) {
  for (int tries = 0; tries < kTries; ++tries) {
    auto said = try_copy(order, limits);
    if (!said) return tl::unexpected(said.error());
    if (*said) return std::move(**said);
    log::warn("a copy of the sealed lab was killed; its run is made again, with the same outcome");
  }
  return fail("copies of the sealed lab are killed, {} in a row: is the machine short of memory? ({} MB each)", kTries,
              kSealedMegabytes);
}

}  // namespace longhaul::lab
