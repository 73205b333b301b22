#include "workloads/suite/rendezvous/run.hh"

#include <stdexcept>

#include "workloads/protocols/rendezvous.hh"

namespace longhaul::workloads::rendezvous {
namespace {

Attempt<Options> options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  auto reuse = reuse_of(spec, parameters);
  if (!reuse) return tl::unexpected(reuse.error());
  return Options{.protocol = protocol_of(text(parameters, spec.parameters, "protocol")),
                 .reuse = std::move(*reuse),
                 .stream = offers(transport, Capability::stream),
                 .strategy = strategy_of(spec, parameters, transport),
                 .pipelining = integer(parameters, spec.parameters, "pipelining") != 0};
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport, Role) {
  const auto options = options_of(spec, parameters, transport);
  if (!options) return tl::unexpected(options.error());
  auto plan = plan_of(*options);
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

struct Made {
  Lanes lanes;
  const Exchange* end;
};

Made make(const PairedSession& session, Role role) {
  const auto options = options_of(session.spec(), session.parameters(), session.transport());
  if (!options) throw std::runtime_error(options.error().message);
  auto exchange = std::make_unique<Exchange>(*session.connections().front(), *options, role);
  Made made{{}, exchange.get()};
  made.lanes.push_back(std::move(exchange));
  return made;
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto made = make(session, Role::client);
  const auto samples = session.measure(made.lanes, {.divisor = 2});
  made.end->verify_last();
  const auto trips = static_cast<double>(made.end->trips()) / static_cast<double>(made.end->operations());
  std::map<std::string, Metric> metrics;
  // An operation is two messages, of each of which this end has one buffer.
  if (const auto counters = made.end->registrations()) {
    metrics = registration_metrics(*counters, counters->requests);
    session.count("registrations_out_of_memory", static_cast<double>(counters->out_of_memory));
  }
  metrics["transfer"] = to_metric(samples.front());
  metrics["trips"] = to_metric(trips, made.end->operations());
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto made = make(session, Role::server);
  session.serve(made.lanes, false);
  made.end->verify_last();
  return {};
}

}  // namespace

Runner runner() {
  return {.workload = "rendezvous", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::rendezvous
