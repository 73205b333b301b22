#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "common/printable.hh"
#include "orchestrator/events/sinks.hh"

namespace longhaul::orchestrator {
namespace {

std::string_view name_of(Status status) {
  return boost::describe::enum_to_string(status, "?");
}

std::string path_text(const BlockStarted& block) {
  const auto ms = [](std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6); };
  auto text = fmt::format("{}: achieved {} ms", block.impairment, ms(block.achieved));
  if (block.asked_back != block.asked ||
      std::abs(block.achieved_back - block.achieved) * 100 > std::max<std::int64_t>(block.achieved, 1))
    text += fmt::format(", back {} ms", ms(block.achieved_back));
  return text + fmt::format(" (programmed {} ms, {} {})", ms(block.programmed), block.tries,
                            block.tries == 1 ? "try" : "tries");
}

class TextSink : public Sink {
 public:
  TextSink(std::FILE* out, bool live, std::chrono::seconds pace) : out_(out), live_(live), pace_(pace) {}
  ~TextSink() override { erase(); }

  void on(const Event& event) override {
    std::visit([this](const auto& e) { handle(e); }, event);
    std::fflush(out_);
  }

 private:
  void handle(const StepEvent& e) { live_ ? show(e.text) : line(e.text); }
  void handle(const WarningEvent& e) { line("warning: " + e.text); }

  void handle(const CampaignStarted& e) {
    auto text = fmt::format("{}: {} cells, {} runs", e.name, e.cells, e.runs);
    if (e.finished > 0) text += fmt::format(" to go ({} are finished)", e.finished);
    line(text + fmt::format(", about {} by the testbed's clock", format_span(e.estimate)));
  }

  void handle(const BlockStarted& e) {
    block_ = (e.testbed.empty() ? "" : e.testbed + "  ") + path_text(e);
    if (live_) show(fmt::format("repetition {}  {}", e.repetition + 1, block_));
  }

  void handle(const RunStarted& e) {
    cell_ = e.cell;
    if (live_) show(progress(e.cell));
  }

  void handle(const RunFinished& e) {
    done_ = e.done;
    total_ = e.done + e.remaining;
    eta_ = e.eta;
    const auto value = e.value ? format_measure(*e.value, e.unit) : std::string{};
    if (!counts(e.status)) {
      line(fmt::format("{} {}: {}", name_of(e.status), e.cell, e.message));
    } else if (live_) {
      show(progress(fmt::format("{} {} {}", e.cell, e.metric, value)));
    } else if (const auto now = std::chrono::steady_clock::now(); !last_ || now - *last_ >= pace_) {
      last_ = now;
      line(progress(fmt::format("{} {} {}", e.cell, e.metric, value)));
    }
  }

  void handle(const CampaignFinished& e) {
    std::string cells;
    for (const auto& [status, count] : e.cells)
      cells += fmt::format("{}{} {}", cells.empty() ? "" : ", ", count, name_of(status));
    if (e.unfinished > 0) cells += fmt::format("{}{} not finished", cells.empty() ? "" : ", ", e.unfinished);
    const auto share = e.wall.count() > 0
                           ? 100.0 * static_cast<double>(e.measuring.count()) / static_cast<double>(e.wall.count())
                           : 0.0;
    line(fmt::format("{}{} runs in {}, {:.0f} % of it measuring; cells: {}", e.interrupted ? "interrupted: " : "",
                     e.runs, format_span(e.wall), share, cells.empty() ? "none" : cells));
    if (e.interrupted) line(fmt::format("what is finished is kept in {}; --resume goes on", e.directory));
  }

  std::string progress(const std::string& what) const {
    if (total_ == 0) return what;
    return fmt::format("{:3}% {}/{} runs, {} left  {}", 100 * done_ / total_, done_, total_, format_span(eta_), what);
  }

  void erase() {
    if (shown_) std::fputs("\r\033[K", out_);
    shown_ = false;
  }

  void line(const std::string& text) {
    erase();
    fmt::print(out_, "{}\n", printable(text));  // nodes' words are in it
  }

  void show(std::string text) {
    text = printable(text);
    text.resize(std::min(text.size(), text.find('\n')));
    winsize size{};
    const auto columns = ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? std::size_t{size.ws_col}
                                                                                             : std::size_t{80};
    if (text.size() >= columns) text.resize(columns - 1);
    erase();
    std::fputs(text.c_str(), out_);
    shown_ = true;
  }

  std::FILE* out_;
  bool live_;
  std::chrono::seconds pace_;
  bool shown_ = false;
  std::string block_;
  std::string cell_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  Nanoseconds eta_{0};
  std::optional<std::chrono::steady_clock::time_point> last_;  // not zero: that clock may begin at boot
};

}  // namespace

std::string format_span(Nanoseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span + std::chrono::milliseconds{500}).count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string format_measure(double value, const std::string& unit) {
  // One unit everywhere, so that figures compare at a glance.
  if (unit == "ns") return fmt::format("{:.1f} us", value / 1e3);
  if (unit == "bit/s") return fmt::format("{:.1f} Mbit/s", value / 1e6);
  return unit == "1" ? fmt::format("{:.4g}", value) : fmt::format("{:.4g} {}", value, unit);
}

std::unique_ptr<Sink> make_text_sink(std::FILE* out, bool live, std::chrono::seconds pace) {
  return std::make_unique<TextSink>(out, live, pace);
}

}  // namespace longhaul::orchestrator
