// A broken environment: a system call that failed although its caller did nothing wrong.
#pragma once

#include <fmt/format.h>

#include <string>
#include <system_error>

namespace longhaul {

/// Throws std::system_error whose text says what was attempted. `error` is an errno value.
[[noreturn]] void throw_errno(const std::string& attempted, int error);

/// The same with the current errno.
[[noreturn]] void throw_errno(const std::string& attempted);

/// Passes a system call's result on; throws with errno when it is negative. `attempted` says what was attempted.
template <typename Int>
Int check(Int result, const std::string& attempted) {
  if (result < 0) throw_errno(attempted);
  return result;
}

}  // namespace longhaul
