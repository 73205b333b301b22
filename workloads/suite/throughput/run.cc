#include "workloads/suite/throughput/run.hh"

#include "workloads/protocols/stream.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads::throughput {
namespace {

constexpr double kMostOfTheTime = 0.5;

stream::Options options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  return {.op = transport == "tcp" ? "stream" : text(parameters, spec.parameters, "op"),
          .size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size")),
          .depth = static_cast<std::size_t>(integer(parameters, spec.parameters, "depth"))};
}

stream::Options options_of(const Session& session) {
  return options_of(session.spec(), session.parameters(), session.transport());
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  auto plan = stream::plan_of(options_of(spec, parameters, transport), role,
                              static_cast<std::size_t>(integer(parameters, spec.parameters, "streams")));
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

std::map<std::string, Metric> metrics_of(const stream::Meter& meter) {
  return {{"throughput", to_metric(meter.rate(), meter.arrivals())}};
}

// TCP tells itself what it waited for.
void judge_tcp(ClientSession& session, std::int64_t window) {
  for (const auto& [counter, what] : {std::pair{"tcp_send_buffer_limited_us", "the send buffer"},
                                      {"tcp_receive_window_limited_us", "the receive window"}}) {
    const auto share = session.moved(counter) * 1000 / static_cast<double>(window);
    if (share > kMostOfTheTime)
      session.limit(fmt::format("TCP waited for {} in {:.0f} % of the time", what, 100 * share));
  }
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto options = options_of(session);
  stream::Meter meter;
  Lanes lanes;
  std::size_t depth = 0;
  for (const auto& connection : session.connections()) {
    auto poster = std::make_unique<stream::Poster>(*connection, options, meter);
    depth += poster->depth();
    lanes.push_back(std::move(poster));
  }
  session.measure(lanes, {});
  if (options.op == "stream") {
    judge_tcp(session, session.number("duration"));
    return {};
  }
  if (options.op == "read")
    for (const auto& connection : session.connections()) stream::verify(connection->memory(), options);
  const auto facts = session.connections().front()->facts();
  const auto why =
      stream_limit(facts.provider, BitRate{static_cast<std::int64_t>(meter.rate())}, Nanoseconds{session.round_trip()},
                   Bytes{static_cast<std::int64_t>(depth * options.size)}, Bytes{facts.mtu}, session.number("streams"));
  if (!why.empty()) session.limit(why);
  return metrics_of(meter);
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto options = options_of(session);
  if (options.op != "stream") {
    session.serve({}, true);
    if (options.op == "write")
      for (const auto& connection : session.connections()) stream::verify(connection->memory(), options);
    return {};
  }
  stream::Meter meter;
  Lanes lanes;
  for (const auto& connection : session.connections())
    lanes.push_back(std::make_unique<stream::Receiver>(*connection, options, meter));
  session.serve(lanes, false);
  return metrics_of(meter);
}

}  // namespace

Runner runner() {
  return {.workload = "throughput", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::throughput
