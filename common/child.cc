#include "common/child.hh"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"
#include "common/memory_file.hh"

namespace longhaul {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

ChildExit from_status(int status) {
  if (WIFSIGNALED(status)) return {.code = {}, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = {}};
}

// The next three run between fork and exec, too.
bool limit(const ChildLimit& asked) {
  const auto resource = static_cast<decltype(RLIMIT_CORE)>(asked.resource);
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  rlimit then{};
  then.rlim_max = std::min<rlim_t>(asked.hard, now.rlim_max);
  then.rlim_cur = std::min<rlim_t>(asked.soft, then.rlim_max);
  return ::setrlimit(resource, &then) == 0;
}

bool gain_nothing() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (auto& part : data) part.inheritable = 0;
  return ::syscall(SYS_capset, &header, data) == 0;
}

// Without it the child is as good as others: no reason not to run it.
void expect_to_go_first() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, "1000", 4);
  ::close(file);
}

// Runs in the child between fork and exec: only async-signal-safe calls. Reports errno through `report`.
[[noreturn]] void become(const ChildOptions& options, char* const* argv, char* const* envp, pid_t parent, int report) {
  const auto give_up = [report] {
    const int error = errno;
    [[maybe_unused]] auto n = ::write(report, &error, sizeof error);
    ::_exit(127);
  };
  if (options.new_process_group && ::setpgid(0, 0) != 0) give_up();
  if (options.die_with_parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
    if (::getppid() != parent) ::_exit(127);  // it died before the prctl
  }
  if (!options.working_directory.empty() && ::chdir(options.working_directory.c_str()) != 0) give_up();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Libraries open descriptors without O_CLOEXEC (Asio its sockets): a child must not hold a peer's connection open.
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) give_up();
  // Sources first go above every target number, so that no dup2 overwrites a source still needed.
  constexpr int kMax = 64;
  int moved[kMax];
  const std::size_t n = std::min<std::size_t>(options.descriptors.size(), kMax);
  for (std::size_t i = 0; i < n; ++i) {
    moved[i] = ::fcntl(options.descriptors[i].first, F_DUPFD_CLOEXEC, 128);
    if (moved[i] < 0) give_up();
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (::dup2(moved[i], options.descriptors[i].second) < 0) give_up();
  }
  if (options.expendable) expect_to_go_first();
  // Last: what was done above must not meet them.
  for (const auto& one : options.limits)
    if (!limit(one)) give_up();
  if (options.gains_nothing && !gain_nothing()) give_up();
  ::execvpe(argv[0], argv, envp);
  give_up();
  ::_exit(127);
}

}  // namespace

std::string ChildExit::text() const {
  if (code) return fmt::format("exit code {}", *code);
  return fmt::format("killed by signal {} ({})", signal.value_or(0), ::sigdescr_np(signal.value_or(0)));
}

Child::Child(const ChildOptions& options) {
  auto arguments = options.arguments;
  std::vector<std::string> environment;
  for (char** e = ::environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    const auto name = entry.substr(0, entry.find('=') + 1);
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                      [&](const std::string& s) { return s.starts_with(name); });
    if (!replaced) environment.emplace_back(entry);
  }
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);

  auto [read_end, write_end] = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = check(::fork(), "forking for " + arguments.at(0));
  if (pid_ == 0) become(options, argv.data(), envp.data(), parent, write_end.get());
  write_end.reset();

  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(read_end.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof error) {
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    throw_errno("executing " + arguments[0], error);
  }
  pidfd_ = OwnFd{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  if (!pidfd_) {
    // No destructor runs for what was never constructed: it would go on without an owner.
    const int why = errno;
    if (options.new_process_group) ::kill(-pid_, SIGKILL);
    end();
    throw_errno(fmt::format("watching {} (pidfd_open){}", arguments[0],
                            why == ENOSYS ? ": needs Linux 5.3, or a container that admits the call" : ""),
                why);
  }
  ::fcntl(pidfd_.get(), F_SETFD, FD_CLOEXEC);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), exit_(std::exchange(other.exit_, {})) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    exit_ = std::exchange(other.exit_, {});
  }
  return *this;
}

Child::~Child() {
  end();
}

void Child::end() noexcept {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  if (::waitpid(pid_, nullptr, 0) < 0 && errno != ECHILD) log::warn("reaping process {}: {}", pid_, errno_text(errno));
  pid_ = -1;
}

void Child::send_signal(int signal) const {
  if (running()) ::kill(pid_, signal);
}

std::optional<ChildExit> Child::poll() {
  if (exit_ || pid_ <= 0) return exit_;
  int status = 0;
  const pid_t r = ::waitpid(pid_, &status, WNOHANG);
  if (r == pid_) exit_ = from_status(status);
  return exit_;
}

std::optional<ChildExit> Child::wait(std::chrono::milliseconds timeout) {
  if (auto ended = poll()) return ended;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd p{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    ::poll(&p, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (auto ended = poll()) return ended;
    if (std::chrono::steady_clock::now() >= deadline) return {};
  }
}

ChildExit Child::terminate(std::chrono::milliseconds grace) {
  send_signal(SIGTERM);
  if (auto ended = wait(grace)) return *ended;
  send_signal(SIGKILL);
  for (;;) {
    if (auto ended = wait(std::chrono::seconds{10})) return *ended;
    log::warn("process {} does not end after SIGKILL", pid_);
  }
}

namespace {

// To the end of file or an error.
std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

CommandOutput run_command(const std::vector<std::string>& arguments, std::string* errors) {
  auto [read_end, write_end] = make_pipe();
  std::vector<std::pair<int, int>> descriptors{{write_end.get(), STDOUT_FILENO}};
  // A file, which is never full: nobody reads it while the command runs.
  OwnFd complaints;
  if (errors != nullptr) {
    complaints = memory_file("errors");
    descriptors.emplace_back(complaints.get(), STDERR_FILENO);
  }
  Child child{
      {.arguments = arguments, .descriptors = std::move(descriptors), .environment = {}, .working_directory = {}}};
  write_end.reset();
  CommandOutput output;
  output.out = read_all(read_end.get());
  while (!child.wait(std::chrono::hours{1})) {
  }
  output.exit = *child.poll();
  if (errors != nullptr) *errors = file_content(complaints.get());
  return output;
}

}  // namespace longhaul
