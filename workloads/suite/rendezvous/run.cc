#include "workloads/suite/rendezvous/run.hh"

#include "workloads/protocols/rendezvous.hh"

namespace longhaul::workloads::rendezvous {
namespace {

Options options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  return {.protocol = protocol_of(text(parameters, spec.parameters, "protocol")),
          .size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size")),
          .stream = transport == "tcp"};
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport, Role) {
  auto plan = plan_of(options_of(spec, parameters, transport));
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

struct Made {
  Lanes lanes;
  const Exchange* end;
};

Made make(const Session& session, Role role) {
  auto exchange = std::make_unique<Exchange>(
      *session.connections().front(), options_of(session.spec(), session.parameters(), session.transport()), role);
  Made made{{}, exchange.get()};
  made.lanes.push_back(std::move(exchange));
  return made;
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto made = make(session, Role::client);
  const auto samples = session.measure(made.lanes, {.divisor = 2});
  made.end->verify_last();
  const auto trips = static_cast<double>(made.end->trips()) / static_cast<double>(made.end->operations());
  return {{"transfer", to_metric(samples.front())}, {"trips", to_metric(trips, made.end->operations())}};
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
