// Logging: once, where a thing is first detected, lower case, with errno text; never on the data path. To stderr.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace longhaul {

/// The text of an errno value ("No such file or directory"), safe in threads.
std::string errno_text(int error);

namespace log {
using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;
}  // namespace log

}  // namespace longhaul
