// The sinks of a campaign's events: a terminal with a live line, plain lines where there is no terminal, JSON lines.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "orchestrator/events/event.hh"

namespace longhaul::orchestrator {

/// For people. On a terminal one line is kept up to date and only what deserves it is left behind; otherwise warnings,
/// and progress every so often. `out` is not owned.
std::unique_ptr<Sink> make_text_sink(std::FILE* out, bool live, std::chrono::seconds pace = std::chrono::seconds{10});

/// One JSON document a line: {"event": "run_finished", ...}, times in ns.
std::unique_ptr<Sink> make_json_sink(std::FILE* out);

/// The line of the JSON sink, without its newline.
std::string to_json(const Event& event);

/// "1:23:45", "4:07", "12 s"
std::string format_span(Nanoseconds span);

/// "13.4 us", "1.25 ms" for ns; the number and its unit for others.
std::string format_measure(double value, const std::string& unit);

}  // namespace longhaul::orchestrator
