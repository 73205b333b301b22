#include "workloads/suite/latency/run.hh"

#include "workloads/protocols/peer_lanes.hh"
#include "workloads/protocols/pingpong.hh"
#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::latency {
namespace {

pingpong::LaneOptions lane_options(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size"));
  return {.op = operation_of(spec, parameters, transport),
          .ping = size,
          .pong = size,
          .verify = integer(parameters, spec.parameters, "verify") != 0,
          .payload = payload_of(spec, parameters)};
}

bool by_peer(const WorkloadSpec& spec, const Parameters& parameters) {
  return text(parameters, spec.parameters, "tool") == "peer";
}

// The connection is not used, but says what is.
Attempt<ConnectionPlan> peer_plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto op = operation_of(spec, parameters, transport);
  const bool polling = !sleeps(parameters);
  if (integer(parameters, spec.parameters, "clients") != 1)
    return unsupported("tool peer is one client at a time: leave --clients out");
  if (op == "write_imm" || op == "write_send")
    return unsupported("perftest has no latency of {}: tool peer has write, send and read", op);
  if (op == "stream" && polling)
    return unsupported("qperf sleeps until a message comes: tool peer over tcp has --completion event");
  if (op == "write" && !polling)
    return unsupported("ib_write_lat spins, nothing tells it of a write: tool peer writes with --completion poll");
  ConnectionPlan plan;
  adapt(plan, spec, parameters, transport);
  plan.memory = plan.message = 1;
  plan.starts_tool = true;
  return plan;
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  if (by_peer(spec, parameters)) return peer_plan(spec, parameters, transport);
  const bool sleeping = sleeps(parameters);
  auto plan = pingpong::plan_of(lane_options(spec, parameters, transport), role, sleeping,
                                static_cast<std::size_t>(integer(parameters, spec.parameters, "clients")));
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

// Lanes as the loop wants them, and as they are.
struct Made {
  Lanes lanes;
  std::vector<pingpong::PingPong*> ends;
};

template <typename Make>
Made make_lanes(const PairedSession& session, Make make) {
  Made made;
  const auto options = lane_options(session.spec(), session.parameters(), session.transport());
  for (const auto& connection : session.connections()) {
    auto lane = make(*connection, options);
    made.ends.push_back(lane.get());
    made.lanes.push_back(std::move(lane));
  }
  return made;
}

bool reads(const PairedSession& session) {
  return !session.streams() && session.word("op") == "read";
}

template <typename Side>
peer::PeerRun peer_run(const Side& session) {
  auto run = peer::run_of(session, peer::Measure::latency);
  run.sleeping = !session.streams() && session.sleeps();
  return run;
}

std::map<std::string, Metric> client(ClientSession& session) {
  if (by_peer(session.spec(), session.parameters())) return {{"latency", peer::measure(session, peer_run(session))}};
  const auto made = make_lanes(session, pingpong::make_client_lane);
  ClientSession::Options options;
  options.sleeping = session.sleeps();
  options.inspecting = session.number("verify") != 0;
  options.divisor = reads(session) ? 1 : 2;
  const auto samples = session.measure(made.lanes, options);
  for (const auto* end : made.ends) {
    end->verify_last();
    session.count("writes_placed_out_of_order", static_cast<double>(end->out_of_order()));
  }
  return {{"latency", to_metric(samples.front())}};
}

std::map<std::string, Metric> server(ServerSession& session) {
  if (by_peer(session.spec(), session.parameters())) {
    peer::serve(session, peer_run(session));
    return {};
  }
  if (reads(session)) {
    session.serve({}, true);
    return {};
  }
  const auto made = make_lanes(session, pingpong::make_server_lane);
  session.serve(made.lanes, session.sleeps());
  for (const auto* end : made.ends) {
    end->verify_last();
    session.count("writes_placed_out_of_order", static_cast<double>(end->out_of_order()));
  }
  return {};
}

}  // namespace

Runner runner() {
  return {.workload = "latency", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::latency
