// A helper with root's rights on a lab's node, behind a named pipe (common/well_known.hh): a bench has no rights of its
// own.
#pragma once

#include <string>

#include "model/units.hh"

namespace longhaul::workloads {

/// True if there is such a pipe, and this process may write to it.
bool has_helper(const char* pipe);
/// Writes one line. Throws std::system_error when nobody reads it.
void tell_helper(const char* pipe, const std::string& line);
/// The text of a file that the helper puts in place whole. Throws std::system_error (ETIMEDOUT) when it does not come.
std::string await_helper(const std::string& path, Nanoseconds patience);

}  // namespace longhaul::workloads
