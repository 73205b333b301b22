#include "lab/machine.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::lab {
namespace {

std::string pid_file(const std::string& name, const std::string& directory) {
  return directory + "/" + name + ".pid";
}

/// True when the process was given that very argument: QEMU's command line names its pid file, and no other process's
/// does.
bool has_argument(pid_t pid, const std::string& argument) {
  const std::string command = '\0' + read_text(fmt::format("/proc/{}/cmdline", pid));
  return command.find('\0' + argument + '\0') != std::string::npos;
}

bool readable(int fd, int milliseconds) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

}  // namespace

Result<Machine> Machine::start(const MachineOptions& options) {
  Machine machine(options.name, options.directory);
  ChildOptions child;
  child.arguments = options.command;
  child.arguments.insert(child.arguments.end(), {"-pidfile", pid_file(options.name, options.directory)});
  if (!options.ephemeral) child.arguments.emplace_back("-daemonize");
  // A terminal's Ctrl-C is for the owner, who takes the VM down.
  child.new_process_group = true;
  const std::string log_path = options.directory + "/" + options.name + ".qemu";
  const OwnFd complaints{
      check(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "creating " + log_path)};
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  child.descriptors = {
      {nothing.get(), STDIN_FILENO}, {complaints.get(), STDOUT_FILENO}, {complaints.get(), STDERR_FILENO}};

  machine.child_ = Child(child);
  machine.pid_ = machine.child_.pid();
  if (options.ephemeral) return machine;

  // With -daemonize the first process ends when the VM is set up.
  const auto ended = machine.child_.wait(std::chrono::seconds{30});
  if (!ended || !ended->ok())
    return fail("QEMU did not start VM {} ({}): {}", options.name, ended ? ended->text() : "no answer",
                machine.emulator_log());
  auto found = find(options.name, options.directory);
  if (!found) return fail("VM {} ended right after its start: {}", options.name, machine.emulator_log());
  return std::move(*found);
}

std::optional<Machine> Machine::find(const std::string& name, const std::string& directory) {
  const std::string path = pid_file(name, directory);
  pid_t pid = -1;
  if (!(std::ifstream(path) >> pid) || pid <= 0) return {};
  Machine machine(name, directory);
  // The descriptor first: from here on the number cannot come to mean another process.
  machine.pidfd_ = OwnFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  if (!machine.pidfd_ || !has_argument(pid, path)) return {};
  machine.pid_ = pid;
  return machine;
}

bool Machine::running() {
  if (pidfd_) return !readable(pidfd_.get(), 0);
  if (child_.running()) child_.poll();
  return child_.running();
}

void Machine::stop() {
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    if (!readable(pidfd_.get(), 10000)) log::warn("VM {} (process {}) does not end after SIGKILL", name_, pid_);
    pidfd_.reset();
  } else if (child_.running()) {
    child_ = Child{};
  }
}

std::string Machine::console_text() const {
  return read_text(console());
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string last_lines(std::string text, std::size_t lines) {
  std::erase(text, '\r');
  while (text.ends_with('\n')) text.pop_back();
  std::size_t from = text.size();
  for (std::size_t line = 0; line < lines && from != std::string::npos && from > 0; ++line)
    from = text.rfind('\n', from - 1);
  return from == std::string::npos || from == 0 ? text : text.substr(from + 1);
}

std::string Machine::console_tail(std::size_t lines) const {
  return last_lines(console_text(), lines);
}

std::string console_tails(const std::vector<Machine>& machines) {
  std::string tails;
  for (const Machine& machine : machines)
    tails += fmt::format("\n--- console of {}:\n{}", machine.name(), machine.console_tail());
  return tails;
}

std::string Machine::emulator_log() const {
  std::string text = read_text(directory_ + "/" + name_ + ".qemu");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace longhaul::lab
