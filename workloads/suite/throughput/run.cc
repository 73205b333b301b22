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

Metric to_metric_of(const StreamCeiling& ceiling) {
  return to_metric(static_cast<double>(ceiling.rate.bits_per_second), 1);
}

// What the windows of all streams let through. tcp's is its send buffer.
StreamCeiling ceiling_of(const ClientSession& session, std::size_t depth, std::size_t size) {
  const auto facts = session.connections().front()->facts();
  const auto streams = session.number("streams");
  const auto window = facts.transport == "tcp" ? facts.queue_depth * streams : static_cast<std::int64_t>(depth * size);
  return stream_ceiling(facts.provider, Nanoseconds{session.round_trip()}, Bytes{window}, Bytes{facts.mtu}, streams);
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
  const auto ceiling = ceiling_of(session, depth, options.size);
  if (options.op == "stream") {
    judge_tcp(session, session.number("duration"));
    return {{"ceiling", to_metric_of(ceiling)}};
  }
  if (options.op == "read")
    for (const auto& connection : session.connections()) stream::verify(connection->memory(), options);
  const auto why = stream_limit(BitRate{static_cast<std::int64_t>(meter.rate())}, ceiling);
  if (!why.empty()) session.limit(why);
  // rxe's own counter; siw has none, its connection is the kernel's TCP.
  if (const auto again = session.moved("completer_retry_err"); again > 0)
    session.limit(fmt::format("{:.0f} times a packet was sent again, after a NAK or an ack time-out of {}", again,
                              format_quantity(Kind::duration, session.connections().front()->facts().timeout_ns)));
  auto metrics = metrics_of(meter);
  metrics["ceiling"] = to_metric_of(ceiling);
  return metrics;
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
