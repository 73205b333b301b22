// Who executes a lab's machines: KVM, Debian's QEMU by emulation, or a QEMU of ours.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "lab/image.hh"

namespace longhaul::lab {

/// A QEMU of ours (lab/qemu), whose processors run in parallel in virtual time.
struct Emulator {
  std::string program;
  std::string share;     ///< its firmware
  std::string identity;  ///< of its sources and our patch: figures belong to it
};

/// The one that is installed (package longhaul-qemu) or built already, else it is built. Remembered for this process.
Result<Emulator> build_emulator();

/// This machine has /dev/kvm and lets us open it. That does not mean that it works.
bool kvm_is_offered();
/// True where KVM really works: a machine is booted to its first line (a guest can hang before it although /dev/kvm
/// opens). The answer is remembered until the host's next boot.
bool kvm_works(const Image& image);

struct QemuVersion {
  int major = 0, minor = 0;
  auto operator<=>(const QemuVersion&) const = default;
};

/// Of what `qemu-system-x86_64 --version` says; empty where that is something else.
std::optional<QemuVersion> parse_qemu_version(std::string_view said);

/// Before 8.1 ("accel/tcg: Always lock pages before translation") a processor that translates code while another one
/// patches it may keep the translation of what was there before, for ever. Linux patches its code whenever a static key
/// is switched, as degen's engine edt does, so a lab of two processors may stand still (docs/measuring.md).
constexpr QemuVersion kTranslatesPatchedCode{8, 1};

/// How a lab by the host's clock executes its machines.
struct Accelerator {
  std::vector<std::string> command;  ///< QEMU with its accelerator and processor; the machine's arguments follow
  bool emulated = true;
  std::string words;  ///< "KVM", "emulated by QEMU 10.0 (no KVM)"
};

/// KVM where it works; else Debian's QEMU, or ours where Debian's is older than `kTranslatesPatchedCode` or not
/// installed. Where ours is not to be had an old one will do, with a warning that says what may happen. Error: none is.
Result<Accelerator> choose_accelerator(const Image& image);

}  // namespace longhaul::lab
