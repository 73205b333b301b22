#include "results/metrics/metrics.hh"

#include <vector>

#include "results/statistics/interval.hh"

namespace longhaul::results {
namespace {

constexpr Role kPreference[] = {Role::client, Role::local, Role::server, Role::router};

struct Named {
  const std::string* node;
  const Metric* metric;
};

Result<RunMetric> pool(const RunRecord& run, const std::string& name, const std::vector<Named>& figures) {
  RunMetric result;
  std::vector<double> values;
  bool whole = true;
  Histogram pooled;
  for (const auto& [node, metric] : figures) {
    values.push_back(metric->value);
    result.samples += metric->samples;
    if (!metric->distribution) {
      whole = false;
      continue;
    }
    const auto histogram = from_data(*metric->distribution);
    if (!histogram) return refuse("run {}, node {}, metric {}: {}", run.run_id, *node, name, histogram.error().message);
    pooled.merge(*histogram);
  }
  result.value = median(values);
  if (whole && pooled.count() > 0) {
    // One node's own median is exact; only several need the pooled one.
    if (figures.size() > 1) result.value = pooled.quantile(0.5);
    result.distribution = std::move(pooled);
  }
  return result;
}

}  // namespace

Result<std::map<std::string, RunMetric>> run_metrics(const RunRecord& run) {
  std::map<std::string, RunMetric> metrics;
  for (const auto role : kPreference) {
    std::map<std::string, std::vector<Named>> found;
    for (const auto& [node, record] : run.nodes) {
      if (record.role != role) continue;
      for (const auto& [name, metric] : record.metrics) {
        if (!metrics.contains(name)) found[name].push_back({&node, &metric});
      }
    }
    for (const auto& [name, figures] : found) {
      auto pooled = pool(run, name, figures);
      if (!pooled) return tl::unexpected(pooled.error());
      metrics.emplace(name, std::move(*pooled));
    }
  }
  return metrics;
}

}  // namespace longhaul::results
