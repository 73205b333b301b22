#include "workloads/suite/progress/run.hh"

#include "workloads/harness/computation.hh"
#include "workloads/protocols/pingpong.hh"
#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::progress {
namespace {

constexpr std::size_t kRequest = 16;  // bytes that ask for a message

pingpong::LaneOptions lane_options(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  return {.op = operation_of(spec, parameters, transport),
          .ping = kRequest,
          .pong = static_cast<std::size_t>(integer(parameters, spec.parameters, "size")),
          .payload = payload_of(spec, parameters)};
}

pingpong::LaneOptions lane_options(const PairedSession& session) {
  return lane_options(session.spec(), session.parameters(), session.transport());
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  auto plan = pingpong::plan_of(lane_options(spec, parameters, transport), role, false, 1);
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

std::map<std::string, Metric> client(ClientSession& session) {
  auto lane = pingpong::make_client_lane(*session.connections().front(), lane_options(session));
  const auto* end = lane.get();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  const auto samples = session.measure(lanes, {});
  end->verify_last();
  return {{"fetch", to_metric(samples.front())}};
}

std::map<std::string, Metric> server(ServerSession& session) {
  auto options = lane_options(session);
  const Computation load{session.duration("load")};
  Histogram times;
  const auto work = [&] { times.record(load.time().count()); };
  if (options.op == "read") {
    if (load.length() == Nanoseconds{0})
      session.serve({}, true);
    else
      session.occupy(work);
  } else {
    if (load.length() > Nanoseconds{0}) options.before_reply = work;
    auto lane = pingpong::make_server_lane(*session.connections().front(), options);
    const auto* end = lane.get();
    Lanes lanes;
    lanes.push_back(std::move(lane));
    session.serve(lanes, false);
    end->verify_last();
  }
  if (times.count() == 0) return {};
  return {{"load_time", to_metric({.histogram = times, .raw = {}})}};
}

}  // namespace

Runner runner() {
  return {.workload = "progress", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::progress
