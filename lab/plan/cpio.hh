// An archive in cpio's "newc" format, which the kernel unpacks into its first file system. Pure.
#pragma once

#include <string>
#include <vector>

#include "lab/plan/plan.hh"

namespace longhaul::lab {

/// The files with the directories above them (0755, root); padded, so that a compressed archive may follow.
/// Throws std::invalid_argument for a path that is not absolute.
std::string make_cpio(const std::vector<OverlayFile>& files);

}  // namespace longhaul::lab
