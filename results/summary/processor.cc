#include "results/summary/processor.hh"

#include <boost/describe.hpp>

#include <algorithm>

namespace longhaul::results {
namespace {

constexpr double kPercent = 100;
constexpr double kBitsPerByte = 8;
constexpr double kSecond = 1e9;

// ns of processor time in a window, added up over the nodes of one role; `wall` is the longest of their windows.
struct Used {
  double wall = 0;
  double user = 0;
  double system = 0;
  double irq = 0;
  double softirq = 0;
  double process = 0;
  std::optional<double> polling;
  double busy() const { return user + system + irq + softirq; }
};

std::map<std::string, Used> used_by_end(const RunRecord& run) {
  std::map<std::string, Used> ends;
  for (const auto& [node, record] : run.nodes) {
    if (!record.cpu || record.cpu->wall <= 0) continue;
    const auto& cpu = *record.cpu;
    auto& used = ends[boost::describe::enum_to_string(record.role, "?")];
    used.wall = std::max(used.wall, static_cast<double>(cpu.wall));
    used.user += static_cast<double>(cpu.node_user + cpu.node_nice);
    used.system += static_cast<double>(cpu.node_system);
    used.irq += static_cast<double>(cpu.node_irq);
    used.softirq += static_cast<double>(cpu.node_softirq);
    used.process += static_cast<double>(cpu.process_user + cpu.process_system);
    if (cpu.process_polling) used.polling = used.polling.value_or(0) + static_cast<double>(*cpu.process_polling);
  }
  return ends;
}

std::vector<MetricSpec> make_specs() {
  std::vector<MetricSpec> all;
  for (const std::string end : kEnds) {
    const auto whose = end == "local" ? std::string{"of the node"} : "of the " + end;
    const auto add = [&](const char* name, const char* unit, Better better, const std::string& help, bool detail) {
      all.push_back({.name = end + name, .unit = unit, .better = better, .help = help, .detail = detail});
    };
    add("_cpu", "%", Better::lower, "processor time " + whose + ": user, system, interrupts; 100 % is one processor",
        false);
    add("_cpu_user", "%", Better::neither, "of it in programs", true);
    add("_cpu_system", "%", Better::neither, "of it in the kernel for programs, and in the kernel's threads", true);
    add("_cpu_irq", "%", Better::neither, "of it in interrupts", true);
    add("_cpu_softirq", "%", Better::neither, "of it in what interrupts leave to be done: receiving packets", true);
    add("_process_cpu", "%", Better::lower, "of the measuring process alone, by the scheduler", true);
    add("_process_polling", "%", Better::neither, "of that looking for what has not come", true);
    add("_cpu_per_op", "ns", Better::lower, "processor time " + whose + " by operation that was timed", false);
    add("_cpu_per_byte", "ns/B", Better::lower, "processor time " + whose + " by byte of payload", false);
  }
  return all;
}

// The divisor: operations in the window, or bytes a second; 0: the records do not tell.
struct Work {
  double operations = 0;
  double bytes_per_second = 0;
};

Work work_of(const RunRecord& run, const WorkloadSpec* spec) {
  if (spec == nullptr || spec->metrics.empty()) return {};
  const auto& headline = spec->metrics.front();
  // As everywhere the client's figure counts where it has one; several clients add up.
  for (const auto role : {Role::client, Role::local, Role::server}) {
    Work work;
    for (const auto& [node, record] : run.nodes) {
      const auto found = record.metrics.find(headline.name);
      if (record.role != role || found == record.metrics.end()) continue;
      if (headline.unit == "ns") work.operations += static_cast<double>(found->second.samples);
      if (headline.unit == "bit/s") work.bytes_per_second += found->second.value / kBitsPerByte;
    }
    if (work.operations > 0 || work.bytes_per_second > 0) return work;
  }
  return {};
}

}  // namespace

const std::vector<MetricSpec>& cpu_metrics() {
  static const auto all = make_specs();
  return all;
}

std::map<std::string, double> run_cpu(const RunRecord& run, const WorkloadSpec* spec) {
  std::map<std::string, double> figures;
  const auto work = work_of(run, spec);
  for (const auto& [end, used] : used_by_end(run)) {
    const auto share = [&, &used = used](double time) { return kPercent * time / used.wall; };
    figures[end + "_cpu"] = share(used.busy());
    figures[end + "_cpu_user"] = share(used.user);
    figures[end + "_cpu_system"] = share(used.system);
    figures[end + "_cpu_irq"] = share(used.irq);
    figures[end + "_cpu_softirq"] = share(used.softirq);
    figures[end + "_process_cpu"] = share(used.process);
    if (used.polling) figures[end + "_process_polling"] = share(*used.polling);
    if (work.operations > 0) figures[end + "_cpu_per_op"] = used.busy() / work.operations;
    if (work.bytes_per_second > 0)
      figures[end + "_cpu_per_byte"] = used.busy() / used.wall * kSecond / work.bytes_per_second;
  }
  return figures;
}

std::vector<MetricSummary> summarise_cpu(const std::vector<const RunRecord*>& runs, const WorkloadSpec* spec) {
  std::map<std::string, std::vector<double>> values;
  for (const auto* run : runs)
    for (const auto& [name, value] : run_cpu(*run, spec)) values[name].push_back(value);
  std::vector<MetricSummary> all;
  for (const auto& metric : cpu_metrics()) {
    const auto found = values.find(metric.name);
    if (found == values.end()) continue;
    MetricSummary summary{.name = metric.name, .unit = metric.unit, .better = metric.better};
    summary.values = std::move(found->second);
    summary.samples = summary.values.size();
    summary.median = median(summary.values);
    summary.interval = median_interval(summary.values);
    all.push_back(std::move(summary));
  }
  return all;
}

}  // namespace longhaul::results
