#include "workloads/suite/throughput/run.hh"

#include <algorithm>
#include <functional>

#include "workloads/protocols/payload.hh"
#include "workloads/protocols/peer_lanes.hh"
#include "workloads/protocols/stream.hh"
#include "workloads/suite/parameters.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads::throughput {
namespace {

constexpr double kMostOfTheTime = 0.5;
constexpr std::int64_t kRampUp = 12;  // round trips until flight limit and TCP's window have found what the path takes

stream::Options options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  return {.op = operation_of(spec, parameters, transport),
          .size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size")),
          .depth = static_cast<std::size_t>(integer(parameters, spec.parameters, "depth")),
          .payload = payload_of(spec, parameters),
          .strategy = strategy_of(spec, parameters, transport)};
}

stream::Options options_of(const PairedSession& session) {
  return options_of(session.spec(), session.parameters(), session.transport());
}

bool by_peer(const WorkloadSpec& spec, const Parameters& parameters) {
  return text(parameters, spec.parameters, "tool") == "peer";
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  if (by_peer(spec, parameters)) {
    if (operation_of(spec, parameters, transport) == "send")
      return unsupported(
          "ib_send_bw wants to be told at both ends how many messages come: tool peer has write and read");
    ConnectionPlan plan;
    adapt(plan, spec, parameters, transport);
    plan.memory = plan.message = 1;  // the connection is not used, but says what is
    plan.starts_tool = true;
    return plan;
  }
  auto plan = stream::plan_of(options_of(spec, parameters, transport), role,
                              static_cast<std::size_t>(integer(parameters, spec.parameters, "streams")));
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

std::map<std::string, Metric> metrics_of(const std::vector<stream::Meter>& meters) {
  return {{"throughput", to_metric(stream::rate_of(meters), stream::arrivals_of(meters))}};
}

Metric to_metric_of(const StreamCeiling& ceiling) {
  return to_metric(static_cast<double>(ceiling.rate.bits_per_second), 1);
}

// The most that the windows of all streams let through. tcp's is its send buffer.
StreamCeiling ceiling_of(const ClientSession& session, std::size_t depth, std::size_t size) {
  const auto facts = session.connections().front()->facts();
  const auto streams = session.number("streams");
  const auto window = session.streams() ? facts.queue_depth * streams : static_cast<std::int64_t>(depth * size);
  return stream_ceiling(facts.provider, session.round_trip(), Bytes{window}, Bytes{facts.mtu}, streams);
}

// TCP tells itself what it waited for.
void judge_tcp(ClientSession& session, Nanoseconds window) {
  for (const auto& [counter, what] : {std::pair{"tcp_send_buffer_limited_us", "the send buffer"},
                                      {"tcp_receive_window_limited_us", "the receive window"}}) {
    const auto share = session.moved(counter) * 1000 / static_cast<double>(window.count());
    if (share > kMostOfTheTime)
      session.limit(fmt::format("TCP waited for {} in {:.0f} % of the time", what, 100 * share));
  }
}

template <typename Side>
peer::PeerRun peer_run(const Side& session) {
  auto run = peer::run_of(session, peer::Measure::throughput);
  run.streams = session.number("streams");
  run.depth = session.number("depth");
  return run;
}

std::map<std::string, Metric> client(ClientSession& session) {
  if (by_peer(session.spec(), session.parameters())) return {{"throughput", peer::measure(session, peer_run(session))}};
  auto options = options_of(session);
  options.round_trip = session.round_trip();
  options.in_place = options.op == "write" && stream::is_iwarp(session.connections().front()->facts());
  std::vector<stream::Meter> meters(session.connections().size());
  Lanes lanes;
  std::size_t depth = 0;
  std::vector<stream::Poster*> posters;
  for (const auto& connection : session.connections()) {
    auto poster = std::make_unique<stream::Poster>(*connection, options, meters[lanes.size()]);
    depth += poster->depth();
    posters.push_back(poster.get());
    lanes.push_back(std::move(poster));
  }
  ClientSession::Options measuring{.round_trips = kRampUp, .count = [&] { return stream::arrivals_of(meters); }};
  if (options.op == "write" || options.op == "read")
    measuring.enough = [&](std::uint64_t) {
      return std::all_of(posters.begin(), posters.end(), std::mem_fn(&stream::Poster::enough));
    };
  session.measure(lanes, measuring);
  if (options.op == "write") stream::flush(posters, session.duration("timeout"));
  const auto ceiling = ceiling_of(session, depth, options.size);
  if (options.op == "stream") {
    judge_tcp(session, session.duration("duration"));
    return {{"ceiling", to_metric_of(ceiling)}};
  }
  if (options.op == "read")
    for (const auto& connection : session.connections())
      stream::verify(connection->memory().subspan(stream::slots_offset(options)), options);
  const auto why = stream_limit(BitRate{static_cast<std::int64_t>(stream::rate_of(meters))}, ceiling);
  if (!why.empty()) session.limit(why);
  // rxe's own counter; siw has none, its connection is the kernel's TCP.
  if (const auto again = session.moved("completer_retry_err"); again > 0)
    session.limit(fmt::format("{:.0f} times a packet was sent again, after a NAK or an ack time-out of {}", again,
                              format_quantity(Kind::duration, session.connections().front()->facts().timeout_ns)));
  // The receiver tells what came of what was sent.
  auto metrics = options.op == "send" ? std::map<std::string, Metric>{} : metrics_of(meters);
  metrics["ceiling"] = to_metric_of(ceiling);
  registration::ExecutorCounters registrations;
  for (const auto* poster : posters)
    if (const auto counters = poster->registrations()) registrations += *counters;
  metrics.merge(registration_metrics(registrations, registrations.requests));
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  if (by_peer(session.spec(), session.parameters())) {
    peer::serve(session, peer_run(session));
    return {};
  }
  const auto options = options_of(session);
  if (options.op != "stream" && options.op != "send") {
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
  return metrics_of({meter});
}

}  // namespace

Runner runner() {
  return {.workload = "throughput", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::throughput
