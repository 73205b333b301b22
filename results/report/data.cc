#include "results/report/data.hh"

#include "model/codec.hh"
#include "results/claims/json.hh"
#include "results/report/answer.hh"
#include "results/report/decisions.hh"
#include "results/report/figures.hh"
#include "results/report/local_axes.hh"
#include "results/report/report.hh"
#include "results/report/transfers.hh"
#include "results/summary/clock.hh"
#include "results/summary/expectation.hh"
#include "results/summary/processor.hh"
#include "results/summary/testbeds.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

// Fractions of the distribution view: even in the middle, closer towards both ends.
constexpr double kFractions[] = {0.001, 0.005, 0.01, 0.02,  0.05, 0.1,   0.15,  0.2,    0.25,  0.3,
                                 0.35,  0.4,   0.45, 0.5,   0.55, 0.6,   0.65,  0.7,    0.75,  0.8,
                                 0.85,  0.9,   0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999};
// A fraction is drawn while so many samples lie beyond it.
constexpr double kSamplesBeyond = 5;

json::array strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

json::object metric_data(const MetricSummary& metric, bool distributions) {
  json::object object{{"name", metric.name},       {"unit", metric.unit},     {"runs", metric.values.size()},
                      {"samples", metric.samples}, {"median", metric.median}, {"p99", optional_number(metric.p99)}};
  if (metric.interval) {
    object["low"] = metric.interval->low;
    object["high"] = metric.interval->high;
    object["level"] = metric.interval->level;
  }
  json::array values;
  for (const double value : metric.values) values.emplace_back(value);
  object["values"] = std::move(values);
  if (distributions && metric.pooled.count() > 0) {
    const auto count = static_cast<double>(metric.pooled.count());
    json::array quantiles;
    quantiles.emplace_back(json::array{0, static_cast<double>(metric.pooled.min())});
    for (const double fraction : kFractions) {
      if (std::min(fraction, 1 - fraction) * count < kSamplesBeyond) continue;
      quantiles.emplace_back(json::array{fraction, metric.pooled.quantile(fraction)});
    }
    quantiles.emplace_back(json::array{1, static_cast<double>(metric.pooled.max())});
    object["quantiles"] = std::move(quantiles);
  }
  return object;
}

json::object direction_data(const AchievedDelay& delay) {
  return {{"asked", delay.asked},
          {"achieved", optional_number(delay.achieved)},
          {"programmed", optional_number(delay.programmed)},
          {"p99", optional_number(delay.p99)},
          {"dropped", delay.dropped}};
}

// Axes that are neither the series nor the plot's own: what a plot must hold constant.
json::object conditions_data(const std::string& workload, const Parameters& parameters, const Vocabulary& vocabulary) {
  json::object object;
  for (const auto& [name, value] : parameters) {
    if (name == "transport" || name == "provider" || name == "rival" || name == "op" || name == "delay" ||
        name == "size" || vocabulary.of_one_transport(workload, name))
      continue;
    object[name] = vocabulary.spelt(workload, parameters, name);
  }
  return object;
}

// The difference between a series and others of its transport, beside the operation: "progress thread".
std::string variant_of(const std::string& workload, const Parameters& parameters, const Vocabulary& vocabulary) {
  std::string text;
  for (const auto& [name, value] : parameters)
    if (name != "op" && name != "rival" && vocabulary.of_one_transport(workload, name))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, vocabulary.spelt(workload, parameters, name));
  return text;
}

// The parameter or its default, where that is a number.
json::value number_data(const std::string& workload, const Parameters& parameters, const std::string& name,
                        const Vocabulary& vocabulary) {
  const auto* spec = vocabulary.parameter(workload, name);
  const auto given = parameters.find(name);
  const auto value = given != parameters.end() ? std::optional{given->second}
                     : spec != nullptr         ? spec->fallback
                                               : std::nullopt;
  if (!value || !std::holds_alternative<std::int64_t>(*value)) return nullptr;
  return std::get<std::int64_t>(*value);
}

// A grid over the delay has this as its other axis: what the workload's own plot runs along, or else the size.
const ParameterSpec* surface_axis(const WorkloadSpec& spec) {
  return find_parameter(spec.parameters, spec.plot_axis == "delay" ? "size" : spec.plot_axis);
}

// For a local workload the size is an axis like any other.
void show_alone(json::object& cell, const CellSummary& summary, const LocalAxes& axes) {
  json::object conditions;
  for (const auto& [name, spelt] : axes.conditions_of(summary)) conditions[name] = spelt;
  cell["conditions"] = std::move(conditions);
  cell["variant"] = axes.variant_of(summary);
  cell["size"] = nullptr;
}

json::object cell_data(const CellSummary& cell, const Summary& summary, const Vocabulary& vocabulary,
                       bool distributions) {
  json::object runs;
  for (const auto& [status, count] : cell.runs) runs[boost::describe::enum_to_string(status, "?")] = count;
  json::array metrics;
  for (const auto& metric : cell.metrics) metrics.emplace_back(metric_data(metric, distributions));
  json::array cpu;
  for (const auto& metric : cell.cpu) cpu.emplace_back(metric_data(metric, false));
  const bool sockets = offers(cell.transport, Capability::stream) && !cell.parameters.contains("op");
  const auto* spec = vocabulary.workload(cell.workload);
  const auto* axis = spec == nullptr ? nullptr : surface_axis(*spec);
  return {{"id", cell.cell_id},
          {"workload", cell.workload},
          {"transport", cell.transport},
          {"provider", cell.provider},
          {"rival", cell.rival},
          {"device", cell.device},
          {"op", sockets ? std::string{} : vocabulary.spelt(cell.workload, cell.parameters, "op")},
          {"variant", variant_of(cell.workload, cell.parameters, vocabulary)},
          {"size", number_data(cell.workload, cell.parameters, "size", vocabulary)},
          {"delay", cell.forward.asked},
          {"along", axis == nullptr ? nullptr : number_data(cell.workload, cell.parameters, axis->name, vocabulary)},
          {"conditions", conditions_data(cell.workload, cell.parameters, vocabulary)},
          {"topology", cell.topology},
          {"forward", direction_data(cell.forward)},
          {"back", direction_data(cell.back)},
          {"rtt", optional_number(cell.rtt)},
          {"status", boost::describe::enum_to_string(cell.status, "?")},
          {"message", cell.message},
          {"runs", std::move(runs)},
          {"usable", cell.usable},
          {"limits", strings(cell.limits)},
          {"soft", cell.soft},
          {"emulated", cell.emulated},
          {"clock", cell.virtual_clock ? kVirtualClock : kHostClock},
          {"polls", vocabulary.spelt(cell.workload, cell.parameters, "completion") == "poll"},
          {"expected", optional_number(expected_headline(cell, summary.cells, vocabulary))},
          {"metrics", std::move(metrics)},
          {"cpu", std::move(cpu)}};
}

// By name: what people call it, whether it is the baseline, and whether its link is told by the rival's name.
json::object transports_data() {
  json::object all;
  for (const auto& one : transports())
    all[one.name] = json::object{{"title", one.title},
                                 {"baseline", is_baseline(one.name)},
                                 {"any_link", offers(one.name, Capability::any_link)}};
  return all;
}

json::object pair_data(const Pairing& pairing, const Vocabulary& vocabulary) {
  static constexpr const char* kNames[] = {"rdma", "sockets", "none", "unknown"};
  const auto named = [](Advantage advantage) { return kNames[static_cast<int>(advantage)]; };
  json::array points;
  for (const auto& point : pairing.points) {
    json::object object{{"delay", point.delay},
                        {"ratio", point.ratio.value},
                        {"advantage", named(point.advantage)},
                        {"rdma", point.rdma_cell},
                        {"sockets", point.sockets_cell}};
    if (point.ratio.interval) {
      object["low"] = point.ratio.interval->low;
      object["high"] = point.ratio.interval->high;
      object["level"] = point.ratio.interval->level;
    }
    points.emplace_back(std::move(object));
  }
  json::array crossovers;
  for (const auto& crossover : pairing.crossovers)
    crossovers.emplace_back(json::object{{"from", crossover.from},
                                         {"to", crossover.to},
                                         {"at", crossover.at},
                                         {"before", named(crossover.before)},
                                         {"after", named(crossover.after)}});
  return {{"workload", pairing.workload},
          {"metric", pairing.metric},
          {"transport", pairing.transport},
          {"provider", pairing.provider},
          {"op", pairing.op},
          {"variant", variant_of(pairing.workload, pairing.conditions, vocabulary)},
          {"name", name_of(pairing, vocabulary)},
          {"course", course_of(pairing)},
          {"size", number_data(pairing.workload, pairing.conditions, "size", vocabulary)},
          {"conditions", conditions_data(pairing.workload, pairing.conditions, vocabulary)},
          {"soft", pairing.soft},
          {"points", std::move(points)},
          {"crossovers", std::move(crossovers)}};
}

json::array workloads_data(const Summary& summary, const Vocabulary& vocabulary) {
  json::array workloads;
  for (const auto& spec : vocabulary.workloads) {
    const auto used = [&](const CellSummary& cell) { return cell.workload == spec.name; };
    if (std::none_of(summary.cells.begin(), summary.cells.end(), used)) continue;
    json::array metrics;
    for (const auto& metric : spec.metrics)
      metrics.emplace_back(json::object{{"name", metric.name},
                                        {"unit", metric.unit},
                                        {"better", boost::describe::enum_to_string(metric.better, "?")},
                                        {"help", metric.help},
                                        {"detail", metric.detail}});
    json::object workload{
        {"name", spec.name}, {"summary", spec.summary}, {"alone", is_local(spec)}, {"metrics", std::move(metrics)}};
    if (const auto* axis = surface_axis(spec))
      workload["surface"] =
          json::object{{"name", axis->name}, {"kind", boost::describe::enum_to_string(axis->kind, "?")}};
    workloads.emplace_back(std::move(workload));
  }
  return workloads;
}

json::array cpu_data() {
  json::array metrics;
  for (const auto& metric : cpu_metrics())
    metrics.emplace_back(json::object{{"name", metric.name}, {"unit", metric.unit}, {"help", metric.help}});
  return metrics;
}

// A value that all cells share tells none from another.
void drop_shared_clock(json::array& objects) {
  for (auto& one : objects) one.at("conditions").as_object().erase(kClockAxis);
}

json::array nodes_data(const Summary& summary) {
  json::array nodes;
  for (const auto& [node, digests] : summary.node_facts) {
    for (const auto& [digest, runs] : digests) {
      json::object object{{"node", node}, {"digest", digest}, {"runs", runs}};
      if (const auto known = summary.facts.find(digest); known != summary.facts.end())
        object["facts"] = codec::encode(known->second);
      nodes.emplace_back(std::move(object));
    }
  }
  return nodes;
}

// Empty where there is one testbed.
json::array testbed_shares_data(const Summary& summary) {
  json::array shares;
  for (const auto& share : testbed_shares(summary)) {
    json::object object{{"nodes", strings(share.nodes)}, {"runs", share.runs}};
    if (share.ratio) object["ratio"] = *share.ratio;
    shares.emplace_back(std::move(object));
  }
  return shares;
}

json::object campaign_data(const Manifest& manifest) {
  return {{"name", manifest.name},
          {"description", manifest.description},
          {"file", manifest.campaign_file},
          {"text", manifest.campaign_text},
          {"seed", std::to_string(manifest.seed)},  // a 64-bit number does not fit a double
          {"version", manifest.version},
          {"command", manifest.command},
          {"repetitions_min", manifest.repetitions_min},
          {"repetitions_max", manifest.repetitions_max},
          {"started", manifest.started / 1'000'000},
          {"finished", manifest.finished / 1'000'000},
          {"wall", manifest.wall},
          {"measuring", manifest.measuring_of_one()}};
}

}  // namespace

json::object data_of(const Analysis& analysis, bool distributions) {
  const auto& [summary, vocabulary, pairings, claims] = analysis;
  const auto answer = answer_of(summary, pairings, vocabulary);
  json::array cells;
  const LocalAxes axes{summary, vocabulary};
  for (const auto& cell : summary.cells) {
    auto object = cell_data(cell, summary, vocabulary, distributions);
    if (vocabulary.is_local(cell.workload)) show_alone(object, cell, axes);
    cells.emplace_back(std::move(object));
  }
  json::array pairs;
  for (const auto& pairing : pairings) pairs.emplace_back(pair_data(pairing, vocabulary));
  const auto clock = clock_of(summary);
  if (clock != "both") {
    drop_shared_clock(cells);
    drop_shared_clock(pairs);
  }
  auto testbed = codec::encode(summary.manifest.testbed);
  // Paths of keys are nobody's business who gets the report.
  for (const auto* secret : {"ca", "cert", "key"}) testbed.as_object().erase(secret);
  return {{"question", answer.question},
          {"answer", answer.answer},
          {"campaign", campaign_data(summary.manifest)},
          {"emulated", summary.emulated},
          {"clock", clock},
          {"clock_limits", kVirtualClockLimits},
          {"virtual_clock", codec::encode(summary.manifest.virtual_clock)},
          {"testbed", std::move(testbed)},
          {"testbed_shares", testbed_shares_data(summary)},
          {"workloads", workloads_data(summary, vocabulary)},
          {"cpu_metrics", cpu_data()},
          {"claims", claims_data(claims)},
          {"verdict_error", kVerdictError},
          {"transports", transports_data()},
          {"cells", std::move(cells)},
          {"pairs", std::move(pairs)},
          {"transfers", transfers_data(summary, vocabulary)},
          {"decisions", decisions_data(summary, vocabulary)},
          {"figures", figures_data(summary, vocabulary)},
          {"nodes", nodes_data(summary)}};
}

std::string json_of(const Analysis& analysis) {
  return json::serialize(data_of(analysis, false));
}

}  // namespace longhaul::results
