#include "workloads/suite/latency/run.hh"

#include "workloads/protocols/pingpong.hh"

namespace longhaul::workloads::latency {
namespace {

pingpong::LaneOptions lane_options(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size"));
  return {.op = transport == "tcp" ? "stream" : text(parameters, spec.parameters, "op"),
          .ping = size,
          .pong = size,
          .verify = integer(parameters, spec.parameters, "verify") != 0};
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  const bool sleeping = text(parameters, spec.parameters, "completion") == "event";
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
Made make_lanes(const Session& session, Make make) {
  Made made;
  const auto options = lane_options(session.spec(), session.parameters(), session.transport());
  for (const auto& connection : session.connections()) {
    auto lane = make(*connection, options);
    made.ends.push_back(lane.get());
    made.lanes.push_back(std::move(lane));
  }
  return made;
}

bool reads(const Session& session) {
  return session.transport() == "rdma" && session.word("op") == "read";
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto made = make_lanes(session, pingpong::make_client_lane);
  ClientSession::Options options;
  options.sleeping = session.word("completion") == "event";
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
  if (reads(session)) {
    session.serve({}, true);
    return {};
  }
  const auto made = make_lanes(session, pingpong::make_server_lane);
  session.serve(made.lanes, session.word("completion") == "event");
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
