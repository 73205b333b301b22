// A QEMU's control connection (QMP), as far as keeping and copying a VM needs it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/fd.hh"
#include "common/line_reader.hh"
#include "common/result.hh"

namespace longhaul::lab {

class Qmp {
 public:
  /// `socket`: connected to QEMU's -chardev. Waits are ended by `deadline` and by `stopped`.
  Qmp(OwnFd socket, std::chrono::steady_clock::time_point deadline, std::function<bool()> stopped)
      : socket_(std::move(socket)), deadline_(deadline), stopped_(std::move(stopped)) {}

  /// Greets and opens the conversation.
  Result<void> begin();
  /// Executes a command whose arguments are a JSON object ("{}": none); returns its answer as JSON.
  Result<std::string> execute(const std::string& command, const std::string& arguments = "{}");
  /// Waits for an event of that name; one that came before counts.
  Result<void> await_event(const std::string& name);
  /// Waits until a migration in either direction is complete.
  Result<void> await_migration();

 private:
  Result<std::string> line();

  OwnFd socket_;
  LineReader lines_{socket_.get()};
  std::chrono::steady_clock::time_point deadline_;
  std::function<bool()> stopped_;
  std::string events_;  ///< names that came, each followed by a space
};

}  // namespace longhaul::lab
