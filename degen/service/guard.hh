// A second process beside `degen serve`. When the service ends otherwise than in order, or is silent for too long (it
// hangs, or somebody stopped it), the guard ends it and takes away what it left in the kernel: a router is never left
// impaired because nobody restarts degen, or because it is there and does nothing.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/child.hh"
#include "common/fd.hh"
#include "degen/service/ownership.hh"

namespace longhaul::degen {

/// The service says at this interval that it is alive.
inline constexpr std::chrono::milliseconds kBeat{500};
/// Silence after which it counts as hung. A machine whose processors are emulated can stand still for a second or two.
inline constexpr std::chrono::milliseconds kSilence{4000};

/// How the watch over a service ended.
enum class Watch {
  ended,  ///< its end of the pipe is closed
  silent  ///< it is there and says nothing
};

/// Waits for either. `beats`: the read end of the service's pipe. Throws std::system_error.
Watch watch(int beats, std::chrono::milliseconds silence);

/// The descriptors that a guard is started with.
struct GuardFds {
  static constexpr int kBeats = 3;
  static constexpr int kService = 4;  ///< pidfd of the service
  static constexpr int kLock = 5;     ///< of the run directory
  static constexpr int kClaims = 6;   ///< the first of the interfaces' claims
};

/// The service's side: starts the guard, and tells it that it is alive. The guard ends when this goes.
class Guard {
 public:
  /// `command`: the program and its arguments. The guard keeps run directory and interfaces locked until it is through.
  /// Throws std::system_error.
  Guard(std::vector<std::string> command, const RunDirectory& directory, const std::vector<OwnFd>& claims);

  /// Never blocks.
  void beat() const;
  /// Readable when the guard has ended.
  int ended() const { return child_.pidfd(); }

 private:
  OwnFd beats_;
  Child child_;
};

}  // namespace longhaul::degen
