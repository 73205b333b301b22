// The machine of a sealed lab: what it consists of, and a QEMU that runs it.
#pragma once

#include <string>
#include <vector>

#include "common/child.hh"
#include "common/fd.hh"
#include "lab/emulator.hh"
#include "lab/sealed.hh"

namespace longhaul::lab {

inline constexpr unsigned kSealedMegabytes = 1024;

/// QEMU's options: the same devices in the same order, or a copy would not be one.
std::vector<std::string> sealed_hardware(const Emulator& emulator, const ClockOptions& clock, const std::string& kernel,
                                         const std::string& initrd);

/// Output of a machine and of its QEMU: files in memory.
struct SealedOutput {
  OwnFd said, console, complaints;
  SealedOutput();
  /// What is longer than any lab of ours makes it, in words; empty: nothing. Whoever waits for a machine asks all the
  /// time, or a guest would fill our memory.
  std::string excess() const;
  /// Its last words, to go behind a sentence.
  std::string why() const;
};

/// Bytes of each of a machine's outputs: an honest one has a record of some megabytes at most for each of six attempts,
/// and lines of its kernel.
inline constexpr std::size_t kMostSaid = std::size_t{128} << 20;
inline constexpr std::size_t kMostConsole = std::size_t{16} << 20;

/// A QEMU and our end of the socket that it was given.
struct SealedVm {
  SealedOutput output;
  OwnFd control;
  Child child;
};

/// The number of that socket in QEMU.
inline constexpr int kControlFd = 6;

/// Use of the socket; it decides when QEMU ends, if it is not ended before: with the thread that started it, or when
/// the socket is closed.
enum class Control { qmp, fork_server };

/// Throws std::system_error.
SealedVm start_sealed_vm(std::vector<std::string> arguments, Control control);

}  // namespace longhaul::lab
