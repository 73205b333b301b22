// Logging: once, where a thing is first detected, lower case, with errno text; never on the data path. To stderr.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace longhaul {

/// The text of an errno value ("No such file or directory"), safe in threads.
std::string errno_text(int error);

/// What becomes of a line that stderr does not take at once: a pipe that is full, a terminal that stands still, a
/// reader that has gone.
enum class LogLine {
  waits,
  is_dropped  ///< the next one that is taken says how many were; lines are cut to kLongestLine
};
inline constexpr std::size_t kLongestLine = 800;

/// Every main calls it first: log lines go to stderr, named after the program. A service drops what is not taken: it
/// must not stand still, or die, because nobody reads its log.
void log_to_stderr(const std::string& program, LogLine untaken = LogLine::waits);

namespace log {
using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;
}  // namespace log

}  // namespace longhaul
