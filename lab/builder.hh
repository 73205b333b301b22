// The scripts that make what labs are made of: lab/image and lab/qemu.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul::lab {

/// Runs one ("image/build") and returns the NAME=VALUE lines that it prints. Its progress goes to stderr. The error
/// says that `what` was not made.
Result<std::map<std::string, std::string>> run_builder(const std::string& name,
                                                       const std::vector<std::string>& arguments,
                                                       const std::string& what);

/// The folder of files that can be built again: ${XDG_CACHE_HOME:-~/.cache}/longhaul/lab.
std::string cache_directory();

}  // namespace longhaul::lab
