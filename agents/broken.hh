// What was thrown in a coroutine that nobody awaits, in words.
#pragma once

#include <exception>
#include <string>

namespace longhaul::agents {

/// The text of what was thrown; throws it on where it is no std::exception. `broken` is not null.
inline std::string message_of(const std::exception_ptr& broken) {
  try {
    std::rethrow_exception(broken);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace longhaul::agents
