// Which kernel the guests of a lab boot (lab/image/kernel.sh takes it from there).
#pragma once

#include <string>
#include <utility>

#include "common/result.hh"

namespace longhaul::lab {

struct KernelChoice {
  /// Empty: the kernel of this machine's installed headers. A Debian kernel by its series (6.12: the newest that apt
  /// knows) or its release (6.12.107+deb12-amd64). With a slash: a file, bzImage or ELF.
  std::string kernel;
  /// Of a file: the folder lib/modules/RELEASE that `make modules_install` wrote. Empty for Debian's.
  std::string modules;
  bool own() const { return kernel.find('/') != std::string::npos; }
  bool operator==(const KernelChoice&) const = default;
};

/// A choice that the builder may be asked for, its paths absolute. Refuses modules without a file, a file without
/// modules, files that are not there, and a name that is neither a series nor a release.
Result<KernelChoice> settle_kernel(const KernelChoice& asked);

/// What a person calls it: the series or release; of a file the release that its modules are for.
std::string kernel_name(const KernelChoice& choice);

/// Names of two kernels that are compared: what a person calls each; where that is the same, as it is where one line of
/// a kernel has been changed, they end in -first and -second.
std::pair<std::string, std::string> names_apart(const KernelChoice& first, const KernelChoice& second);

}  // namespace longhaul::lab
