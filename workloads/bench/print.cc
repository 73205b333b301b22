#include "workloads/bench/print.hh"

#include <boost/json.hpp>
#include <utility>

#include "model/codec.hh"

namespace longhaul::workloads {
namespace {

namespace json = boost::json;

struct Percentile {
  const char* name;
  double fraction;
  std::uint64_t least;  // samples below which it is one of the extremes, not an estimate
};
constexpr Percentile kPercentiles[] = {
    {"p50", 0.5, 1}, {"p90", 0.9, 10}, {"p99", 0.99, 100}, {"p99.9", 0.999, 1000}, {"p99.99", 0.9999, 10000}};

// ns are shown as us, bit/s as Mbit/s.
double shown(const MetricSpec& spec, double value) {
  return spec.unit == "ns" ? value / 1e3 : spec.unit == "bit/s" ? value / 1e6 : value;
}
std::string shown_unit(const MetricSpec& spec) {
  return spec.unit == "ns" ? "us" : spec.unit == "bit/s" ? "Mbit/s" : spec.unit;
}

Histogram histogram_of(const Metric& metric) {
  if (!metric.distribution) return {};
  auto histogram = from_data(*metric.distribution);
  return histogram ? *histogram : Histogram{};
}

std::string word(const NodeRecord& record, const std::string& name) {
  const auto it = record.parameters.find(name);
  const auto* text = it == record.parameters.end() ? nullptr : std::get_if<std::string>(&it->second);
  return text == nullptr ? "" : *text;
}

std::string parameter_text(const WorkloadSpec& spec, const NodeRecord& record, const std::string& name) {
  const auto* parameter = find_parameter(spec.parameters, name);
  const auto it = record.parameters.find(name);
  return parameter == nullptr || it == record.parameters.end() ? "" : format_value(*parameter, it->second);
}

// The ends of a run, the one that asked for it first.
using Records = std::vector<const NodeRecord*>;

// Whichever end measured it.
const Metric* metric_of(const Records& records, const std::string& name) {
  for (const auto* record : records)
    if (const auto it = record->metrics.find(name); it != record->metrics.end()) return &it->second;
  return nullptr;
}

std::string distribution_columns(const MetricSpec& metric, const Histogram& histogram) {
  auto text = fmt::format(" {:>10.2f}", shown(metric, static_cast<double>(histogram.min())));
  for (const auto& percentile : kPercentiles)
    text += histogram.count() < percentile.least
                ? fmt::format(" {:>10}", "-")
                : fmt::format(" {:>10.2f}", shown(metric, histogram.quantile(percentile.fraction)));
  return text + fmt::format(" {:>10.2f}", shown(metric, static_cast<double>(histogram.max())));
}

const char* role_of(const NodeRecord& record) {
  return boost::describe::enum_to_string(record.role, "?");
}

std::string cpu_line(const NodeRecord& record) {
  if (!record.cpu || record.cpu->wall <= 0) return {};
  const auto& cpu = *record.cpu;
  const auto percent = [&](std::int64_t used) {
    return 100.0 * static_cast<double>(used) / static_cast<double>(cpu.wall);
  };
  const auto node = cpu.node_user + cpu.node_nice + cpu.node_system + cpu.node_irq + cpu.node_softirq;
  const auto polling =
      cpu.process_polling ? fmt::format(" ({:.0f} % polling)", percent(*cpu.process_polling)) : std::string{};
  return fmt::format(
      "  CPU of the {}: process {:.0f} % user, {:.0f} % system{}; its processors {:.0f} % (irq {:.0f}, softirq "
      "{:.0f})\n",
      record.role == Role::local ? "node" : role_of(record), percent(cpu.process_user), percent(cpu.process_system),
      polling, percent(node), percent(cpu.node_irq), percent(cpu.node_softirq));
}

}  // namespace

std::string describe_transport(const NodeRecord& record) {
  if (!record.transport) return {};
  const auto& t = *record.transport;
  if (record.role == Role::local)
    return fmt::format("{} on {} ({} on {})\n", record.workload, t.device, t.provider, t.netdev);
  std::string text;
  if (offers(t.transport, Capability::stream)) {
    text = fmt::format("{} over {} on {}, {} -> {}\n", record.workload, t.transport, t.netdev.empty() ? "?" : t.netdev,
                       t.local_address, t.peer_address);
    text += fmt::format("  MTU {}, congestion control {}, send buffer {}", t.mtu, t.congestion_control, t.queue_depth);
  } else {
    const auto* spec = find_transport(t.transport);
    const auto op = word(record, "op");
    text = fmt::format("{} by {}{} over {} ({} on {}), {} -> {}\n", record.workload,
                       spec == nullptr ? t.transport : spec->title, op.empty() ? "" : " " + op, t.device, t.provider,
                       t.netdev, t.local_address, t.peer_address);
    text += fmt::format("  {}MTU {}, queue of {}", t.gid.empty() ? "" : fmt::format("GID {}, ", t.gid), t.mtu,
                        t.queue_depth);
    if (t.timeout_ns > 0)
      text += fmt::format(", ack time-out {:.0f} ms x {}", static_cast<double>(t.timeout_ns) / 1e6, t.retry_count + 1);
  }
  const auto completion = word(record, "completion");
  return text + fmt::format("{}\n", completion.empty() ? "" : ", completion by " + completion);
}

namespace {

std::string table_of(const WorkloadSpec& spec, const Records& records) {
  const auto& first = *records.front();
  auto text = first.transport ? describe_transport(first) : first.workload + "\n";
  text += fmt::format("  {:<22} {:>9} {:>10}", parameter_text(spec, first, "size"), "samples", "min");
  for (const auto& percentile : kPercentiles) text += fmt::format(" {:>10}", percentile.name);
  text += fmt::format(" {:>10}\n", "max");
  for (const auto& metric : spec.metrics) {
    const auto* measured = metric_of(records, metric.name);
    if (measured == nullptr) continue;
    text += fmt::format("  {:<22} {:>9}", fmt::format("{} [{}]", metric.name, shown_unit(metric)), measured->samples);
    text += measured->distribution ? distribution_columns(metric, histogram_of(*measured))
                                   : fmt::format(" {:>10} {:>10.4g}", "", shown(metric, measured->value));
    text += "\n";
  }
  for (const auto& metric : spec.metrics)
    if (metric_of(records, metric.name) != nullptr) text += fmt::format("  {}: {}\n", metric.name, metric.help);
  for (const auto* record : records) text += cpu_line(*record);
  for (const auto& limit : first.limits) text += fmt::format("  limited: {}\n", limit);
  return text;
}

std::string document_of(const WorkloadSpec& spec, const Records& records) {
  json::object summary;
  for (const auto& metric : spec.metrics) {
    const auto* measured = metric_of(records, metric.name);
    if (measured == nullptr) continue;
    const auto histogram = histogram_of(*measured);
    json::object one{{"unit", metric.unit}, {"samples", measured->samples}, {"value", measured->value}};
    if (histogram.count() > 0) {
      one["min"] = histogram.min();
      one["mean"] = histogram.mean();
      for (const auto& percentile : kPercentiles)
        if (histogram.count() >= percentile.least) one[percentile.name] = histogram.quantile(percentile.fraction);
      one["max"] = histogram.max();
    }
    summary[metric.name] = std::move(one);
  }
  json::object root;
  root["summary"] = std::move(summary);
  for (const auto* record : records) root[role_of(*record)] = codec::encode(*record);
  return json::serialize(root);
}

}  // namespace

std::string table(const WorkloadSpec& spec, const ClientResult& result) {
  return table_of(spec, {&result.client, &result.server});
}

std::string table(const WorkloadSpec& spec, const NodeRecord& alone) {
  return table_of(spec, {&alone});
}

std::string document(const WorkloadSpec& spec, const ClientResult& result) {
  return document_of(spec, {&result.client, &result.server});
}

std::string document(const WorkloadSpec& spec, const NodeRecord& alone) {
  return document_of(spec, {&alone});
}

std::string error_document(const RunFailure& failure) {
  return json::serialize(
      json::object{{"status", boost::describe::enum_to_string(failure.status, "?")}, {"error", failure.message}});
}

}  // namespace longhaul::workloads
