#include "workloads/suite/latency/run.hh"

#include "workloads/suite/latency/lanes.hh"

namespace longhaul::workloads::latency {
namespace {

constexpr std::uint32_t kReceives = 4;  // one is used at a time; the others make its replacement unhurried

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  auto with_transport = parameters;
  with_transport["transport"] = std::string{transport};
  const auto op = text(parameters, spec.parameters, "op");
  const bool sleeping = text(parameters, spec.parameters, "completion") == "event";
  if (transport == "rdma" && op == "write" && sleeping)
    return unsupported(
        "an RDMA write completes nothing at its target that could wake it: use --op write_imm, write_send or send with "
        "--completion event, or --completion poll");
  ConnectionPlan plan;
  plan.needs = spec.needs(with_transport);
  plan.connections = static_cast<std::size_t>(integer(parameters, spec.parameters, "clients"));
  plan.message = static_cast<std::size_t>(integer(parameters, spec.parameters, "size"));
  plan.in_flight = plan.message;
  plan.sleeping = sleeping;
  plan.unused = {transport == "tcp" ? "op" : "congestion_control"};
  const auto layout = layout_of(plan.message);
  plan.memory = layout.total;
  if (transport == "tcp" || op == "send" || op == "write_imm" || op == "write_send") {
    plan.receives = kReceives;
    plan.receive_offset = layout.in;
    plan.receive_length = plan.message;  // siw refuses an empty receive, also where nothing is to be put into it
  }
  if (op == "read") plan.prepare = [size = plan.message](std::span<std::byte> memory) { fill_source(memory, size); };
  if (const auto it = parameters.find("congestion_control"); it != parameters.end() && transport == "tcp")
    plan.congestion_control = std::get<std::string>(it->second);
  return plan;
}

LaneOptions lane_options(const Session& session) {
  const bool tcp = session.connections().front()->facts().transport == "tcp";
  return {tcp ? "stream" : session.word("op"), static_cast<std::size_t>(session.number("size")),
          session.number("verify") != 0};
}

// Lanes as the loop wants them, and as they are.
struct Made {
  Lanes lanes;
  std::vector<PingPong*> ends;
};

template <typename Make>
Made make_lanes(const Session& session, Make make) {
  Made made;
  const auto options = lane_options(session);
  for (const auto& connection : session.connections()) {
    auto lane = make(*connection, options);
    made.ends.push_back(lane.get());
    made.lanes.push_back(std::move(lane));
  }
  return made;
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto made = make_lanes(session, make_client_lane);
  ClientSession::Options options;
  options.sleeping = session.word("completion") == "event";
  options.inspecting = session.number("verify") != 0;
  options.divisor = lane_options(session).op == "read" ? 1 : 2;
  const auto samples = session.measure(made.lanes, options);
  for (const auto* end : made.ends) {
    end->verify_last();
    session.count("writes_placed_out_of_order", static_cast<double>(end->out_of_order()));
  }
  return {{"latency", to_metric(samples)}};
}

void server(ServerSession& session) {
  const auto options = lane_options(session);
  if (options.op == "read") {
    session.serve({}, true);
    return;
  }
  const auto made = make_lanes(session, make_server_lane);
  session.serve(made.lanes, session.word("completion") == "event");
  for (const auto* end : made.ends) {
    end->verify_last();
    session.count("writes_placed_out_of_order", static_cast<double>(end->out_of_order()));
  }
}

}  // namespace

Runner runner() {
  return {.workload = "latency", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::latency
