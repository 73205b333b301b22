// cells.csv: one line per cell and metric (DESIGN.md fixes the columns). RFC 4180: CRLF is optional to every reader
// that matters, so lines end in LF; a field with a comma, a quote or a line break is quoted.
#include <boost/json.hpp>

#include <array>
#include <cmath>
#include <optional>

#include "common/csv.hh"
#include "model/codec.hh"
#include "results/report/report.hh"

namespace longhaul::results {
namespace {

constexpr const char* kHeader =
    "cell,workload,transport,provider,device,strategy,protocol,op,completion,delay_us,achieved_delay_us,size_bytes,"
    "clients,metric,unit,"
    "runs,samples,median,ci_low,ci_high,p99,status,delay_back_us,achieved_delay_back_us,path,engine,topology,params,"
    "clock\n";

// Axes that have a column; all others go into params.
constexpr std::array kColumns{"transport",  "provider", "strategy", "protocol", "op",     "completion", "delay",
                              "delay_back", "size",     "clients",  "path",     "engine", kClockAxis};

// At most three decimals, none that say nothing.
std::string trimmed(double value) {
  auto text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string microseconds(std::optional<double> nanoseconds) {
  return nanoseconds ? trimmed(*nanoseconds / 1000) : std::string{};
}

// ns is shown as us everywhere; whatever else keeps its unit.
std::string in_unit(std::optional<double> value, const std::string& unit) {
  if (!value || !std::isfinite(*value)) return {};
  if (unit == "ns") return microseconds(value);
  return fmt::format("{:.10g}", *value);
}

std::string params_of(const CellSummary& cell) {
  boost::json::object object;
  for (const auto& [name, value] : cell.parameters) {
    if (std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end()) continue;
    object[name] = codec::encode(value);
  }
  return boost::json::serialize(object);
}

class Line {
 public:
  Line& add(const std::string& field) {
    text_ += (text_.empty() ? "" : ",") + csv_field(field);
    return *this;
  }
  std::string end() const { return text_ + "\n"; }

 private:
  std::string text_;
};

std::string integer_or_default(const CellSummary& cell, const Vocabulary& vocabulary, const std::string& name) {
  if (const auto it = cell.parameters.find(name); it != cell.parameters.end())
    return std::visit([](const auto& value) { return fmt::format("{}", value); }, it->second);
  const auto* spec = vocabulary.parameter(cell.workload, name);
  if (spec == nullptr || !spec->fallback) return {};
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, *spec->fallback);
}

void add_line(std::string& text, const CellSummary& cell, const MetricSummary& metric, const Vocabulary& vocabulary) {
  const auto word = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  const bool crosses = !cell.transport.empty() && !vocabulary.is_local(cell.workload);
  const bool wan = crosses && word("path") != "lan";
  const bool measured = !metric.values.empty();
  const auto asked = [&](const AchievedDelay& delay) {
    return wan ? trimmed(static_cast<double>(delay.asked) / 1000) : std::string{};
  };
  const auto interval = [&](double Interval::*bound) {
    return metric.interval ? in_unit((*metric.interval).*bound, metric.unit) : std::string{};
  };
  Line line;
  line.add(cell.cell_id).add(cell.workload).add(cell.transport).add(cell.provider).add(cell.device);
  line.add(word("strategy")).add(word("protocol"));
  // Sockets have one operation and no name for it.
  line.add(offers(cell.transport, Capability::stream) && !cell.parameters.contains("op") ? std::string{} : word("op"));
  line.add(word("completion")).add(asked(cell.forward)).add(microseconds(cell.forward.achieved));
  line.add(integer_or_default(cell, vocabulary, "size")).add(integer_or_default(cell, vocabulary, "clients"));
  line.add(metric.name).add(metric.unit == "ns" ? "us" : metric.unit);
  line.add(std::to_string(metric.values.size())).add(std::to_string(metric.samples));
  line.add(measured ? in_unit(metric.median, metric.unit) : std::string{});
  line.add(interval(&Interval::low)).add(interval(&Interval::high)).add(in_unit(metric.p99, metric.unit));
  line.add(boost::describe::enum_to_string(cell.status, "?"));
  line.add(asked(cell.back)).add(microseconds(cell.back.achieved));
  line.add(crosses ? word("path") : std::string{}).add(wan ? word("engine") : std::string{});
  line.add(cell.topology).add(params_of(cell)).add(word(kClockAxis));
  text += line.end();
}

// A cell without a result still has its line, under the name of what it should have measured.
MetricSummary unmeasured(const CellSummary& cell, const Vocabulary& vocabulary) {
  MetricSummary empty;
  if (const auto* spec = vocabulary.workload(cell.workload); spec != nullptr && !spec->metrics.empty()) {
    empty.name = spec->metrics.front().name;
    empty.unit = spec->metrics.front().unit;
  }
  return empty;
}

}  // namespace

std::string csv_of(const Summary& summary, const Vocabulary& vocabulary) {
  std::string text = kHeader;
  for (const auto& cell : summary.cells) {
    for (const auto& metric : cell.metrics) add_line(text, cell, metric, vocabulary);
    if (cell.metrics.empty()) add_line(text, cell, unmeasured(cell, vocabulary), vocabulary);
    for (const auto& metric : cell.cpu) add_line(text, cell, metric, vocabulary);
  }
  return text;
}

}  // namespace longhaul::results
