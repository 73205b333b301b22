// Expected refusals (bad input, a failed cell) are values; a broken environment throws (error.hh).
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace longhaul {

/// Exit codes; 0 is success. CLI11's own usage errors are mapped to `usage`.
enum class ExitCode : int {
  ok = 0,
  failure = 1,       ///< the environment failed: a system call, a lost peer
  usage = 2,         ///< bad options, bad campaign file, bad input file
  incomplete = 3,    ///< `run`: at least one cell is refused or failed
  interrupted = 130  ///< Ctrl-C or SIGTERM, cleaned up
};

/// A refusal that its reader can act on: names what, where and the remedy.
struct Error {
  std::string message;
  ExitCode exit_code = ExitCode::usage;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// A refusal of the user's input: `return refuse("{}:{}: ...", file, line);`
template <typename... Args>
tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), ExitCode::usage});
}

/// A failure that is not the user's input: a peer, a node, a child process.
template <typename... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...), ExitCode::failure});
}

}  // namespace longhaul
