// A lab with a clock of its own: one VM whose time is the instructions that it has executed (QEMU's instruction
// counting, by a QEMU of ours: lab/qemu). It is booted once, to the point where its agents are connected, and kept;
// each run is a fresh copy of it (lab/origin), which takes one order and depends on nothing else. The same order gives
// the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/result.hh"
#include "lab/kernel.hh"
#include "model/testbed.hh"

namespace longhaul::lab {

struct ClockOptions {
  int shift = 1;       ///< an instruction takes 2^shift ns: 0, 1 or 2
  int quantum = 1000;  ///< instructions by which two processors' clocks may differ
};

struct SealOptions {
  unsigned clients = 1;
  unsigned mtu = 1500;
  KernelChoice kernel;
  ClockOptions clock;
  std::string program_dir;                           ///< as in UpOptions
  std::function<void(const std::string&)> progress;  ///< one line for people at each step; may be empty
  std::function<bool()> cancelled;                   ///< polled while waiting; may be empty
};

/// A booted lab that is kept. What identifies it: a lab of the same identity gives the same bits for the same order.
struct SealedImage {
  std::string identity;  ///< of all of it: QEMU, kernel, programs, set-up, clock
  std::string qemu;      ///< of the QEMU build
  std::string release;   ///< of the kernel, as uname -r tells it
  std::string kernel;    ///< digests of the kernel, and of the programs with their libraries and modules
  std::string programs;
  ClockOptions clock;
  std::string directory;  ///< in the cache: memory, greeting
  std::string greeting;   ///< what the guest said before it was kept: a line a node's facts
  Testbed testbed;        ///< its nodes as seen from inside
};

/// Boots and keeps a lab, or takes the one that is kept already.
Result<SealedImage> seal(const SealOptions& options);

/// True where a lab's processors would be emulated here: KVM does not work.
Result<bool> would_be_emulated();

/// Makes sure that its QEMU is there: builds it if it is not.
Result<void> emulator_at_hand();

}  // namespace longhaul::lab
