#include "results/analyses/certificate/certificate.hh"

#include <algorithm>
#include <cmath>
#include <set>

#include "results/statistics/interval.hh"

namespace longhaul::results {
namespace {

constexpr const char* kWorkload = "packets";
constexpr std::int64_t kSecond = 1'000'000'000;

// What a cell may ask of the path and say something about an engine by itself.
bool plain(const CellSummary& cell, const Vocabulary& vocabulary) {
  const std::set<std::string> kPlain{"delay", "delay_back", "rate", "rate_back", "queue", "queue_back"};
  return std::all_of(cell.parameters.begin(), cell.parameters.end(), [&](const auto& one) {
    return kPlain.contains(one.first) || find_parameter(vocabulary.impairment, one.first) == nullptr;
  });
}

double largest(const CellSummary& cell, const char* metric) {
  const auto* found = cell.metric(metric);
  if (found == nullptr || found->values.empty()) return 0;
  return *std::max_element(found->values.begin(), found->values.end());
}

std::optional<double> worse(std::optional<double> one, std::optional<double> other) {
  return one && other ? std::max(*one, *other) : one ? one : other;
}

// Of one way.
struct Errors {
  std::optional<double> median, largest, p99;
};

Errors errors_of(const AchievedDelay& way) {
  if (way.asked == 0 || way.values.empty()) return {};
  std::vector<double> off;
  for (const auto value : way.values) off.push_back(std::abs(value - static_cast<double>(way.asked)));
  Errors errors{.median = median(off), .largest = *std::max_element(off.begin(), off.end()), .p99 = {}};
  if (way.p99) errors.p99 = *way.p99 - static_cast<double>(way.asked);
  return errors;
}

// The lower of two, 0 is unlimited.
std::int64_t lower_rate(std::int64_t one, std::int64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

CertifiedPoint point_of(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto all = vocabulary.completed(cell.workload, cell.parameters);
  const auto interval = std::max<std::int64_t>(1, integer_of(all, "interval"));
  const auto forward = errors_of(cell.forward), back = errors_of(cell.back);
  const auto asked = asked_of(all);
  const auto* variation = cell.metric("variation");
  const auto* stretch = cell.metric("stretch");
  CertifiedPoint point{.delay = std::max(asked.delay, asked.delay_back),
                       .rate = lower_rate(asked.rate, asked.rate_back),
                       .packets_a_second = integer_of(all, "burst", 1) * kSecond / interval,
                       .size = integer_of(all, "size"),
                       .runs = cell.usable,
                       .error = worse(forward.median, back.median),
                       .largest_error = worse(forward.largest, back.largest),
                       .p99 = worse(forward.p99, back.p99),
                       .variation = variation != nullptr ? variation->p99 : std::nullopt,
                       .stretch = stretch != nullptr ? std::optional{stretch->median} : std::nullopt,
                       .loss = largest(cell, "loss"),
                       .duplicates = largest(cell, "duplicates"),
                       .reordered = largest(cell, "reordered"),
                       .broken = {}};
  const bool measured = counts(cell.status);
  point.broken = measured ? fault_of(point) : cell.message;
  return point;
}

}  // namespace

Result<Certificate> certify(const Summary& summary, const Vocabulary& vocabulary) {
  Certificate certificate{.campaign = summary.manifest.name,
                          .version = summary.manifest.version,
                          .clock = summary.manifest.virtual_clock ? "virtual" : "host",
                          .emulated = summary.emulated,
                          .measured = summary.manifest.finished,
                          .kernels = {},
                          .engines = {}};
  for (const auto& [node, digests] : summary.node_facts)
    for (const auto& [digest, runs] : digests)
      if (const auto known = summary.facts.find(digest); known != summary.facts.end())
        certificate.kernels[node] = known->second.kernel;
  for (const auto& cell : summary.cells) {
    if (cell.workload != kWorkload || !plain(cell, vocabulary)) continue;
    auto point = point_of(cell, vocabulary);
    const bool asked = point.delay > 0 || point.rate > 0;
    certificate.engines[asked ? asked_of(cell.parameters).engine : kNoEngine].push_back(std::move(point));
  }
  if (certificate.engines.empty())
    return refuse("no cells of the workload {} with a delay or a rate alone: run campaigns/certify.yaml", kWorkload);
  for (auto& [engine, points] : certificate.engines) sort(points);
  return certificate;
}

}  // namespace longhaul::results
