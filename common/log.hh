// Logging: once, where a thing is first detected, lower case, with errno text; never on the data path. To stderr.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace longhaul {

/// The text of an errno value ("No such file or directory"), safe in threads.
std::string errno_text(int error);

/// Every main calls it first: log lines go to stderr, named after the program.
void log_to_stderr(const std::string& program);

namespace log {
using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;
}  // namespace log

}  // namespace longhaul
