#include "workloads/harness/reception.hh"

#include "common/log.hh"
#include "common/version.hh"
#include "workloads/harness/keepalive.hh"

namespace longhaul::workloads {
namespace {

tl::unexpected<Refusal> refuse(Arrival& client, Refusal refusal) {
  tell(client.control, ControlKind::refused, refusal);
  return tl::unexpected(std::move(refusal));
}

ControlMessage acceptance() {
  ControlMessage accepted;
  accepted.kind = ControlKind::accepted;
  accepted.program = version_text();
  return accepted;
}

}  // namespace

void tell(ControlChannel& control, ControlKind kind, const Refusal& refusal) {
  ControlMessage message;
  message.kind = kind;
  message.program = version_text();
  message.status = refusal.status;
  message.message = refusal.message;
  try {
    control.send(message, Patience::of(1'000'000'000, -1));
  } catch (const std::system_error& error) {
    log::debug("could not tell the client: {}", error.what());
  }
}

std::size_t Order::clients() const {
  return static_cast<std::size_t>(integer_of(parameters, "client_nodes", 1));
}

Attempt<Order> hear(Arrival& client, const std::vector<Runner>& runners, const Patience& patience) {
  keep_alive(client.control.fd());
  const auto hello = client.control.receive(patience, "the client's hello");
  if (!hello) {
    tell(client.control, ControlKind::refused, {Status::failed, hello.error().message});
    return failed_by(hello.error());
  }
  Order order;
  const auto name = hello->workload.value_or("");
  order.runner = find_runner(runners, name);
  if (hello->kind != ControlKind::hello || order.runner == nullptr)
    return refuse(client, {Status::unsupported, fmt::format("no workload '{}' here ({})", name, version_text())});
  if (!order.runner->server) return refuse(client, {Status::unsupported, fmt::format("{} has no server", name)});
  const auto transport = hello->transport.value_or("");
  order.transport = find_transport_code(transport);
  if (order.transport == nullptr) return refuse(client, no_such_transport(transport).value());
  auto parameters = complete(*order.runner->spec, hello->parameters.value_or(Parameters{}));
  if (!parameters) return refuse(client, {Status::failed, parameters.error().message});
  order.parameters = std::move(*parameters);
  auto plan = order.runner->plan(*order.runner->spec, order.parameters, transport, Role::server);
  if (!plan) return refuse(client, plan.error());
  order.plan = std::move(*plan);
  return order;
}

Attempt<Connections> receive(Arrival& client, const Order& order, const std::string& device, Doorstep& doorstep,
                             const Patience& patience) {
  auto& control = client.control;
  auto sockets = doorstep.lanes(client.session, order.transport->sockets(order.plan), patience);
  if (!sockets) return refuse(client, {Status::failed, sockets.error().message});
  auto listener = order.transport->listen({.plan = order.plan,
                                           .session = client.session,
                                           .device = device,
                                           .control = control.fd(),
                                           .sockets = std::move(*sockets)});
  if (!listener) return refuse(client, listener.error());
  auto accepted = acceptance();
  if (const auto port = (*listener)->port(); port > 0) accepted.port = port;
  control.send(accepted, patience);
  auto connections = (*listener)->accept(patience);
  if (!connections) {
    auto refusal = connections.error();
    refusal.message += last_words(control, "the client", Patience::of(100'000'000, patience.stop));
    tell(control, ControlKind::failed, refusal);
    return tl::unexpected(std::move(refusal));
  }
  return connections;
}

}  // namespace longhaul::workloads
