#include "common/log.hh"

#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "common/printable.hh"

namespace longhaul {
namespace {

// What is logged quotes strangers: nodes, peers, files.
class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const auto text = printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<PrintableMessage>(); }
};

// A line of kLongestLine is at most five times as long when it is printable, which is less than PIPE_BUF: what poll(2)
// says there is room for.
class ImpatientSink : public spdlog::sinks::stderr_color_sink_mt {
 public:
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard guard{dropping_};
    if (dropped_ > 0 && takes_more()) {
      const auto told = fmt::format("{} lines were not taken by who reads this log", std::exchange(dropped_, 0));
      write({message.logger_name, spdlog::level::warn, told});
    }
    if (!takes_more()) {
      ++dropped_;
      return;
    }
    if (message.payload.size() <= kLongestLine) return write(message);
    const auto text = std::string{message.payload.data(), kLongestLine} + " ...";
    auto cut = message;
    cut.payload = text;
    write(cut);
  }

 private:
  static bool takes_more() {
    pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    return ::poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
  }
  void write(const spdlog::details::log_msg& message) { spdlog::sinks::stderr_color_sink_mt::log(message); }

  std::mutex dropping_;
  std::size_t dropped_ = 0;
};

std::shared_ptr<spdlog::sinks::sink> sink_for(LogLine untaken) {
  if (untaken == LogLine::is_dropped) return std::make_shared<ImpatientSink>();
  return std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
}

}  // namespace

void log_to_stderr(const std::string& program, LogLine untaken) {
  // Spdlog's own default is standard output, which belongs to a program's results.
  auto logger = std::make_shared<spdlog::logger>(program, sink_for(untaken));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableMessage>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %n: %^%l%$: %*");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace longhaul
