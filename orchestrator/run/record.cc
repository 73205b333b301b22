#include "orchestrator/run/record.hh"

#include <algorithm>
#include <set>

#include "common/median.hh"
#include "degen/impairment/spec.hh"
#include "orchestrator/run/order.hh"

namespace longhaul::orchestrator {
namespace {

constexpr Nanoseconds kBetweenRuns = std::chrono::milliseconds{350};
constexpr Nanoseconds kNewBlock = std::chrono::milliseconds{600};
constexpr int kRoundTripsBetween = 6;  // connecting twice, parting, a probe phase

PathDirection direction(const degen::DirectionReport& report, std::optional<std::uint64_t> packets) {
  return {.asked = report.asked,
          .programmed = report.programmed,
          .achieved = report.achieved,
          .p99 = report.samples > 0 ? report.p99 - report.unimpaired : 0,
          .unimpaired = report.unimpaired,
          .samples = report.samples,
          .dropped = report.lost + report.dropped,
          .packets = packets};
}

}  // namespace

std::string run_id(const CampaignCell& cell, const PlannedRun& run) {
  return fmt::format("{}/{}/{}", cell.id, run.repetition, run.attempt);
}

std::vector<std::int64_t> achieved(const degen::Report& report) {
  return {report.forward.achieved, report.back.achieved};
}

PathRecord path_record(const PathEvidence& evidence) {
  return {.engine = evidence.engine,
          .forward = direction(evidence.during.forward, evidence.packets_forward),
          .back = direction(evidence.during.back, evidence.packets_back),
          .rtt = upper_median(evidence.round_trips),
          .rtt_unimpaired = evidence.round_trip_unimpaired,
          .rtt_samples = evidence.round_trips.size(),
          .before = evidence.before,
          .after = evidence.after,
          .within_tolerance = evidence.within_tolerance,
          .chosen = evidence.chosen,
          .seed = evidence.seed};
}

std::optional<double> headline(const RunRecord& record, const WorkloadSpec& workload) {
  if (workload.metrics.empty()) return std::nullopt;
  for (const auto role : {Role::client, Role::local, Role::server}) {
    for (const auto& [node, part] : record.nodes) {
      const auto it = part.metrics.find(workload.metrics.front().name);
      if (part.role == role && it != part.metrics.end()) return it->second.value;
    }
  }
  return std::nullopt;
}

Nanoseconds window_of(const WorkloadSpec& workload, const Cell& cell) {
  if (find_parameter(workload.parameters, "duration") == nullptr)
    return workload.lasts ? workload.lasts(cell.parameters) : kUnknownWindow;
  Nanoseconds total{0};
  for (const auto* name : {"warmup", "duration"}) {
    const auto* spec = find_parameter(workload.parameters, name);
    if (spec == nullptr || spec->kind != Kind::duration) continue;
    const auto it = cell.parameters.find(name);
    const auto value = it != cell.parameters.end() ? it->second : spec->fallback.value_or(Value{0});
    total += Nanoseconds{std::get<std::int64_t>(value)};
  }
  return total;
}

Nanoseconds further_patience(const WorkloadSpec& workload, const Cell& cell) {
  const auto* spec = find_parameter(workload.parameters, "timeout");
  const auto asked = cell.parameters.find("timeout");
  if (spec == nullptr || !spec->fallback || asked == cell.parameters.end()) return Nanoseconds{0};
  return Nanoseconds{
      std::max<std::int64_t>(std::get<std::int64_t>(asked->second) - std::get<std::int64_t>(*spec->fallback), 0)};
}

Nanoseconds round_trip_of(const Cell& cell) {
  const auto impairment = degen::make_impairment(degen::impairment_part(cell.parameters));
  return impairment ? impairment->forward.delay + impairment->back.delay : Nanoseconds{0};
}

Parameters sealed_window(const Campaign& campaign, const CampaignCell& cell, Parameters parameters) {
  if (changes_with_time(campaign, cell)) return parameters;
  return shorten_window(std::move(parameters), workload_of(campaign, cell), round_trip_of(cell.cell));
}

std::size_t cut_windows(const Campaign& campaign, const std::vector<CampaignCell>& cells) {
  return static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), [&](const CampaignCell& cell) {
    const auto asked = cell.cell.parameters.find("duration");
    return asked != cell.cell.parameters.end() &&
           sealed_window(campaign, cell, cell.cell.parameters).at("duration") != asked->second;
  }));
}

Nanoseconds estimate(const Campaign& campaign, const std::vector<CampaignCell>& cells,
                     const std::vector<PlannedRun>& runs, bool sealed) {
  Nanoseconds total{0};
  std::set<std::pair<int, std::string>> blocks;
  for (const auto& run : runs) {
    const auto& cell = cells[run.cell];
    const auto round_trip = round_trip_of(cell.cell);
    auto timed = cell.cell;
    if (sealed) timed.parameters = sealed_window(campaign, cell, std::move(timed.parameters));
    total += window_of(workload_of(campaign, cell), timed) + kBetweenRuns + kRoundTripsBetween * round_trip;
    if (!sealed && !cell.local && blocks.emplace(run.repetition, cell.group).second) total += kNewBlock;
  }
  return total;
}

}  // namespace longhaul::orchestrator
