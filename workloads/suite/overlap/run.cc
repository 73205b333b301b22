#include "workloads/suite/overlap/run.hh"

#include "workloads/protocols/pingpong.hh"
#include "workloads/suite/overlap/lanes.hh"
#include "workloads/suite/overlap/ratio.hh"
#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::overlap {
namespace {

pingpong::LaneOptions lane_options(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size"));
  return {.op = operation_of(spec, parameters, transport),
          .ping = size,
          .pong = size,
          .payload = payload_of(spec, parameters)};
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  auto plan = pingpong::plan_of(lane_options(spec, parameters, transport), role, false, 1);
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

std::map<std::string, Metric> client(ClientSession& session) {
  auto& connection = *session.connections().front();
  const auto options = lane_options(session.spec(), session.parameters(), session.transport());
  Computation work{session.duration("compute")};
  const auto pingpong = pingpong::make_client_lane(connection, options);
  std::optional<HelpedLane> helped;
  if (session.streams() && session.word("progress") == "thread") helped.emplace(*pingpong);
  auto lane = std::make_unique<OverlapLane>(helped ? static_cast<Lane&>(*helped) : *pingpong, work);
  const auto& alone = lane->alone();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  const auto samples = session.measure(lanes, {.inspecting = true, .kinds = kKinds});
  work.check(alone.quantile(0.5));
  const auto total = to_metric(samples[Kind::total]);
  Computation::check_contained(alone.quantile(0.5), total.value);
  pingpong->verify_last();
  return metrics_of(total, to_metric(samples[Kind::pure]), to_metric({.histogram = alone, .raw = {}}));
}

std::map<std::string, Metric> server(ServerSession& session) {
  auto lane = pingpong::make_server_lane(*session.connections().front(),
                                         lane_options(session.spec(), session.parameters(), session.transport()));
  const auto* end = lane.get();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  session.serve(lanes, false);
  end->verify_last();
  return {};
}

}  // namespace

Runner runner() {
  return {.workload = "overlap", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::overlap
