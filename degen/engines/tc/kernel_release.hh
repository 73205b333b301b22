// Which kernel this is.
#pragma once

#include <string>

namespace longhaul::degen {

/// `uname -r`.
std::string kernel_release();

}  // namespace longhaul::degen
