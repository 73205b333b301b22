#include "common/printable.hh"
#include "degen/cli/commands.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

std::string line(std::string_view name, const DirectionReport& r) {
  const bool measured = r.samples > 0;
  const auto time = [&](bool known, std::int64_t value) { return known ? short_time(value) : std::string{"-"}; };
  return fmt::format("{:<8} {:>9} {:>11} {:>9} {:>9} {:>9} {:>11} {:>7} {:>5} {:>8} {:>8}\n", name, short_time(r.asked),
                     short_time(r.programmed), time(measured && r.unimpaired_samples > 0, r.achieved),
                     time(measured, r.median), time(measured, r.p99), time(r.unimpaired_samples > 0, r.unimpaired),
                     r.samples, r.lost, r.dropped, r.queue_limit);
}

}  // namespace

std::string short_time(std::int64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  const auto size = nanoseconds < 0 ? -value : value;
  if (nanoseconds == 0) return "0";
  if (size < 1e6) return fmt::format("{:.1f}us", value / 1e3);
  if (size < 1e9) return fmt::format("{:.3f}ms", value / 1e6);
  return fmt::format("{:.4f}s", value / 1e9);
}

std::string to_text(const Report& report) {
  std::string text;
  if (report.holder.empty()) {
    text = report.impaired ? "nobody holds the router, but something of degen's is in its kernel still\n"
                           : "nothing is applied\n";
  } else {
    const auto impairment = make_impairment(report.parameters);
    text = fmt::format("{} ({}), held by {}\n", impairment ? describe(*impairment) : std::string{"?"}, report.engine,
                       printable(report.holder));
    if (report.chosen) text += fmt::format("engine {} was chosen: {}\n", report.engine, *report.chosen);
  }
  if (report.seed) text += fmt::format("random by seed {}\n", *report.seed);
  if (report.problem) text += fmt::format("lost: {}\n", *report.problem);
  for (const auto& lack : report.lacks) text += describe(lack) + "\n";
  text += fmt::format("{:<8} {:>9} {:>11} {:>9} {:>9} {:>9} {:>11} {:>7} {:>5} {:>8} {:>8}\n", "", "asked",
                      "programmed", "achieved", "p50", "p99", "unimpaired", "probes", "lost", "dropped", "queue");
  text += line("forward", report.forward);
  text += line("back", report.back);
  if (report.forward.samples + report.back.samples == 0)
    text +=
        "no probes have come: start `longhaul-bench probe --listen --open` and `--connect` on the ends to measure the "
        "delay\n";
  return text;
}

}  // namespace longhaul::degen
