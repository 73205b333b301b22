#include "common/log.hh"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace longhaul {

void log_to_stderr(const std::string& program) {
  // Spdlog's own default is standard output, which belongs to a program's results.
  auto logger = std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n: %^%l%$: %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace longhaul
