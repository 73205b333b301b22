// A child process: spawned with explicit descriptors, watched through a pidfd, ended when its owner goes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.hh"

namespace longhaul {

/// The end of a child. Exactly one of the two is set.
struct ChildExit {
  std::optional<int> code;
  std::optional<int> signal;
  bool ok() const { return code == 0; }
  std::string text() const;  ///< "exit code 3" or "killed by signal 9 (Killed)"
};

/// A resource limit of setrlimit(2). Where our own hard limit is lower, that one holds.
struct ChildLimit {
  int resource = 0;  ///< RLIMIT_...
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

struct ChildOptions {
  std::vector<std::string> arguments;            ///< argv; [0] is looked up on PATH when it has no slash
  std::vector<std::pair<int, int>> descriptors;  ///< (ours, the child's number); all others are closed on exec
  std::vector<std::string> environment;          ///< "NAME=value", added to ours
  std::string working_directory;                 ///< empty: ours
  bool die_with_parent = true;                   ///< SIGKILL when the spawning THREAD ends (prctl(2))
  bool new_process_group = false;                ///< so that a terminal's Ctrl-C does not reach it
  std::vector<ChildLimit> limits;
  /// The program gains no privilege: no_new_privs is set, its inheritable and ambient capabilities are empty.
  bool gains_nothing = false;
  /// The kernel ends it before others when memory runs out (oom_score_adj 1000).
  bool expendable = false;
};

/// Move-only owner of a running child. The destructor kills (SIGKILL) and reaps a child that still runs.
class Child {
 public:
  Child() = default;
  /// Throws std::system_error when the program cannot be executed (exec errors are reported here, not as an exit code).
  explicit Child(const ChildOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0 && !exit_; }
  /// Readable when the child has ended (pidfd_open(2)): for poll and Asio.
  int pidfd() const { return pidfd_.get(); }
  void send_signal(int signal) const;
  /// Its end, without waiting; empty while it runs.
  std::optional<ChildExit> poll();
  /// Waits at most `timeout`; empty when it still runs then.
  std::optional<ChildExit> wait(std::chrono::milliseconds timeout);
  /// SIGTERM, `grace`, SIGKILL; then its end.
  ChildExit terminate(std::chrono::milliseconds grace = std::chrono::milliseconds{1000});

 private:
  void end() noexcept;
  pid_t pid_ = -1;
  OwnFd pidfd_;
  std::optional<ChildExit> exit_;
};

/// Runs a command to its end and returns its standard output. Standard error passes through, or is put into `errors`.
/// Throws std::system_error when it cannot be executed.
struct CommandOutput {
  ChildExit exit;
  std::string out;
};
CommandOutput run_command(const std::vector<std::string>& arguments, std::string* errors = nullptr);

}  // namespace longhaul
