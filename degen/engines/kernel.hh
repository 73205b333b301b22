// The version of the kernel, by which planners know what it can do. Pure.
#pragma once

#include <string_view>

namespace longhaul::degen {

/// Whether a release (`uname -r`, "6.1.0-44-amd64") is of this version or a later one. True of what is no number: a
/// kernel that cannot do something says so itself.
bool at_least(std::string_view release, int major, int minor);

}  // namespace longhaul::degen
