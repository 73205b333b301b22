#include "workloads/suite/cpu_load/run.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "observe/clock.hh"
#include "observe/placement.hh"
#include "observe/small_file.hh"
#include "workloads/protocols/stream.hh"
#include "workloads/suite/cpu_load/application.hh"

namespace longhaul::workloads::cpu_load {
namespace {

constexpr std::uint64_t kFewestSteps = 4;  // of the application, with and without traffic

stream::Options options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto number = [&](const char* name) { return integer(parameters, spec.parameters, name); };
  const auto bits = 8.0 * static_cast<double>(number("size")) * static_cast<double>(number("clients"));
  const auto rate = static_cast<double>(number("send_rate"));
  return {.op = offers(transport, Capability::stream) ? "stream" : "write",
          .size = static_cast<std::size_t>(number("size")),
          .depth = static_cast<std::size_t>(number("depth")),
          .interval = Nanoseconds{rate > 0 ? static_cast<std::int64_t>(bits * 1e9 / rate) : 0}};
}

stream::Options options_of(const PairedSession& session) {
  return options_of(session.spec(), session.parameters(), session.transport());
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  const auto clients = integer(parameters, spec.parameters, "clients");
  const auto nodes = integer(parameters, spec.parameters, "client_nodes");
  if (clients % nodes != 0)
    return wrong_input("--clients {} cannot be spread evenly over {} client nodes", clients, nodes);
  auto plan = stream::plan_of(options_of(spec, parameters, transport), role, static_cast<std::size_t>(clients / nodes));
  if (!plan) return plan;
  adapt(*plan, spec, parameters, transport);
  plan->sleeping = offers(transport, Capability::stream);
  return plan;
}

// Else the application on the server would not feel the traffic, and soft RDMA would look like an adapter. Where nodes
// share a machine its kernel receives a packet on the processor that sent it, if nobody says otherwise.
void require_received_here(const PairedSession& session) {
  const auto netdev = session.connections().front()->facts().netdev;
  const auto own = own_processors();
  if (own.size() >= std::thread::hardware_concurrency() || netdev == "lo") return;
  const auto receiving = observe::receive_processors(netdev);
  const auto is_own = [&](int cpu) { return std::find(own.begin(), own.end(), cpu) != own.end(); };
  if (!receiving.empty() && std::all_of(receiving.begin(), receiving.end(), is_own)) return;
  throw Unsupported(fmt::format(
      "packets for {} are processed on {}, not on this end's processors ({}): the application on the server would not "
      "feel them; steer them there (/sys/class/net/{}/queues/rx-*/rps_cpus)",
      netdev, receiving.empty() ? "the sender's processor" : fmt::format("processors {}", fmt::join(receiving, ", ")),
      fmt::join(own, ", "), netdev));
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto options = options_of(session);
  require_received_here(session);
  stream::Meter meter;
  Lanes lanes;
  std::vector<stream::Poster*> posters;
  for (const auto& connection : session.connections()) {
    auto poster = std::make_unique<stream::Poster>(*connection, options, meter);
    posters.push_back(poster.get());
    lanes.push_back(std::move(poster));
  }
  session.await_prepared();
  session.measure(lanes, {});
  if (options.op == "write") stream::flush(posters, session.duration("timeout"));
  if (options.op == "stream") return {};
  return {{"sent", to_metric(meter.rate(), meter.arrivals())}};
}

std::map<int, std::uint64_t> network_softirqs() {
  return observe::parse_softirqs(observe::small_file("/proc/softirqs").value_or(""), "NET_RX");
}

// Counts the network's receive softirqs on the server's processors and elsewhere while the window was open.
void count_softirqs(ServerSession& session, const std::map<int, std::uint64_t>& before) {
  const auto own = own_processors();
  for (const auto& [cpu, count] : network_softirqs()) {
    const auto it = before.find(cpu);
    const bool here = std::find(own.begin(), own.end(), cpu) != own.end();
    session.count(here ? "net_rx_softirqs_here" : "net_rx_softirqs_elsewhere",
                  static_cast<double>(count - (it == before.end() ? 0 : it->second)));
  }
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto options = options_of(session);
  require_received_here(session);
  stream::Meter meter;
  Lanes lanes;
  if (options.op == "stream")
    for (const auto& connection : session.connections())
      lanes.push_back(std::make_unique<stream::Receiver>(*connection, options, meter));
  Application application{session.duration("work")};
  const auto now = observe::raw_time();
  application.quiet(now, now + session.duration("alone"));
  session.idle(session.duration("alone"));
  session.prepared();
  std::map<int, std::uint64_t> softirqs;
  session.on_window([&] {
    softirqs = network_softirqs();
    // The clients hear of it half a round trip later, and what they send is here after the other half; after the window
    // they wait until all of it has come.
    const auto first = observe::raw_time() + session.round_trip();
    application.busy(first, first + session.duration("duration"));
  });
  session.serve(lanes, true);
  count_softirqs(session, softirqs);
  application.stop();
  const auto& alone = application.alone();
  const auto& loaded = application.loaded();
  if (alone.steps < kFewestSteps || loaded.steps < kFewestSteps)
    throw std::runtime_error(
        fmt::format("the application did {} of the {} steps of one run without and {} with traffic, {} are needed: "
                    "give a longer --duration and --alone, or less --work",
                    alone.steps, kStepsOfARun, loaded.steps, kFewestSteps));
  if (options.op == "write")
    for (const auto& connection : session.connections()) stream::verify(connection->memory(), options);
  const auto quiet = alone.run_time();
  const auto busy = loaded.run_time();
  std::map<std::string, Metric> metrics{{"slowdown", to_metric(busy / quiet, loaded.steps)},
                                        {"run_time", to_metric(busy, loaded.steps)},
                                        {"run_time_alone", to_metric(quiet, alone.steps)}};
  const auto rate = options.op == "stream" ? meter.rate() : session.peer_metric("sent");
  metrics["received"] = to_metric(rate, options.op == "stream" ? meter.arrivals() : loaded.steps);
  if (rate <= 0) return metrics;
  const auto lost = cpu_per_byte(quiet, busy, rate);
  metrics["cpu_per_byte"] = to_metric(lost, loaded.steps);
  if (const auto cycles = frequency(session.cpu()))
    metrics["cycles_per_byte"] = to_metric(lost * *cycles, loaded.steps);
  return metrics;
}

}  // namespace

Runner runner() {
  return {.workload = "cpu_load", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::cpu_load
