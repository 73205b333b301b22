#include <cerrno>
#include <fstream>
#include <iostream>
#include <sstream>

#include "common/log.hh"
#include "degen/cli/commands.hh"
#include "degen/impairment/trace.hh"

namespace longhaul::degen {

Result<ExitCode> print_schedule(const std::string& file, Nanoseconds step) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream in{file};
    if (!in) return refuse("{}: cannot be read: {}", file, errno_text(errno));
    text << in.rdbuf();
  }
  const auto schedule = read_trace(text.str(), step);
  if (!schedule) return refuse("{}: {}", file, schedule.error().message);
  fmt::print("{}\n", to_text(*schedule));
  return ExitCode::ok;
}

}  // namespace longhaul::degen
