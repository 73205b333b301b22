// The guests' images: built by lab/image/build and lab/image/systems, cached by content.
#pragma once

#include <string>
#include <vector>

#include "common/result.hh"
#include "lab/kernel.hh"

namespace longhaul::lab {

struct Image {
  std::string kernel;    ///< uncompressed ELF, booted directly
  std::string base;      ///< initramfs, lz4
  std::string programs;  ///< initramfs, lz4; empty: none
  std::string release;   ///< of the kernel, as uname -r tells it
  std::string disk;      ///< root file system of whole systems; empty: none, all is in memory
};

/// The folder of files that can be built again: ${XDG_CACHE_HOME:-~/.cache}/longhaul/lab.
std::string cache_directory();

/// Builds what is not cached; `programs` are files. The builder's progress goes to stderr.
/// Refuses a kernel as settle_kernel() does.
Result<Image> build_image(const std::vector<std::string>& programs, const KernelChoice& kernel = {});

/// The image of whole Debian systems; the same otherwise.
Result<Image> build_system_image();

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

}  // namespace longhaul::lab
