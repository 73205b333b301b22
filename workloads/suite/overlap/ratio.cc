#include "workloads/suite/overlap/ratio.hh"

#include <algorithm>

#include "workloads/harness/session.hh"

namespace longhaul::workloads::overlap {
namespace {

// SMB's default: availability is read where the work dominates the message.
constexpr double kWorkDominates = 1.5;

}  // namespace

std::map<std::string, Metric> metrics_of(Metric total, Metric pure, Metric computation) {
  const auto derived = [&](double value) { return to_metric(value, total.samples); };
  std::map<std::string, Metric> metrics;
  if (total.value > 0) metrics["overlap_ratio"] = derived(computation.value / total.value);
  if (pure.value > 0) {
    const auto hidden = 100 * (1 - (total.value - computation.value) / pure.value);
    metrics["overlap"] = derived(std::max(0.0, hidden));
    if (total.value >= kWorkDominates * pure.value) metrics["availability"] = derived(hidden);
  }
  metrics["total"] = std::move(total);
  metrics["pure"] = std::move(pure);
  metrics["compute_time"] = std::move(computation);
  return metrics;
}

}  // namespace longhaul::workloads::overlap
