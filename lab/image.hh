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

/// Builds what is not cached; `programs` are files. The builder's progress goes to stderr.
/// Refuses a kernel as settle_kernel() does.
Result<Image> build_image(const std::vector<std::string>& programs, const KernelChoice& kernel = {});

/// The image of whole Debian systems; the same otherwise.
Result<Image> build_system_image();

}  // namespace longhaul::lab
