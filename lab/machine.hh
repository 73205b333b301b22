// The owner of one VM's process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/child.hh"
#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::lab {

struct MachineOptions {
  std::string name;
  std::string directory;             ///< the lab's: NAME.console, NAME.pid and NAME.qemu are written there
  std::vector<std::string> command;  ///< QEMU and its arguments
  bool ephemeral = false;            ///< ends with its owner, and with the thread that starts it
};

/// Move-only. Its destructor ends an ephemeral VM and leaves any other running.
class Machine {
 public:
  /// Starts QEMU; an error carries QEMU's own words. Returns when QEMU has set itself up (persistent) or has been
  /// executed (ephemeral).
  static Result<Machine> start(const MachineOptions& options);

  /// A VM that some process has started. Empty when it is gone; a process that merely has its old number is not taken
  /// for it.
  static std::optional<Machine> find(const std::string& name, const std::string& directory);

  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  bool running();
  /// Ends it at once: a lab VM keeps nothing worth a shutdown. Idempotent.
  void stop();

  std::string console() const { return directory_ + "/" + name_ + ".console"; }
  /// All that it has said so far.
  std::string console_text() const;
  std::string console_tail(std::size_t lines = 20) const;
  /// QEMU's own complaints.
  std::string emulator_log() const;

 private:
  Machine(std::string name, std::string directory) : name_(std::move(name)), directory_(std::move(directory)) {}
  std::string name_, directory_;
  pid_t pid_ = -1;
  OwnFd pidfd_;  // of one that is not our child
  Child child_;  // an ephemeral one
};

/// A file's whole text; empty where there is none.
std::string read_text(const std::string& path);

/// The last lines of a text, without the empty ones at its end.
std::string last_lines(std::string text, std::size_t lines = 20);

/// The last console lines of each, below a line of its own with its name; begins with a line's end, to go behind a
/// sentence.
std::string console_tails(const std::vector<Machine>& machines);

}  // namespace longhaul::lab
