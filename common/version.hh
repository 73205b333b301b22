// The version of this longhaul.
#pragma once

#include <string>

namespace longhaul {

/// "0.1.0 (commit 1a2b3c4d, dirty)": the number, the commit that was built and whether the tree differed from it.
std::string version_text();

}  // namespace longhaul
