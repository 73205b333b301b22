#include "workloads/harness/reception.hh"

#include <fmt/ranges.h>

#include "common/log.hh"
#include "common/version.hh"
#include "workloads/harness/keepalive.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/transport/sockets/connection.hh"
#include "workloads/transport/sockets/tcp.hh"
#include "workloads/transport/verbs/connect.hh"

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

Attempt<Connections> receive_sockets(Arrival& client, const Order& order, Doorstep& doorstep,
                                     const Patience& patience) {
  auto lanes = doorstep.lanes(client.session, order.plan.connections, patience);
  if (!lanes) return refuse(client, {Status::failed, lanes.error().message});
  Connections connections;
  for (auto& fd : *lanes) {
    auto connection = SocketsConnection::open(std::move(fd), order.plan);
    if (!connection) return refuse(client, connection.error());
    connections.push_back(std::move(*connection));
  }
  client.control.send(acceptance(), patience);
  return connections;
}

Attempt<VerbsListener> listen(const SocketAddress& own, const std::string& device) {
  try {
    return VerbsListener::open(own, device);
  } catch (const std::system_error& error) {
    return unsupported("{}", error.what());
  }
}

Attempt<Connections> receive_verbs(Arrival& client, const Order& order, const std::string& device,
                                   const Patience& patience) {
  auto& control = client.control;
  const auto rtt = round_trip(control.fd());
  auto listener = listen(local_address(control.fd()), device);
  if (!listener) return refuse(client, listener.error());
  if (const auto lacking = missing(order.plan, offers(listener->device())); !lacking.empty())
    return refuse(client, {Status::unsupported, fmt::format("{} ({}) has no {}", listener->device().name,
                                                            listener->device().provider, fmt::join(lacking, ", "))});
  auto accepted = acceptance();
  accepted.port = listener->port();
  control.send(accepted, patience);
  auto opened = listener->accept(order.plan, client.session, rtt, control.fd(), patience);
  if (!opened) {
    auto refusal = opened.error();
    refusal.message += last_words(control, "the client", Patience::of(100'000'000, patience.stop));
    tell(control, ControlKind::failed, refusal);
    return tl::unexpected(std::move(refusal));
  }
  Connections connections;
  for (auto& connection : *opened) connections.push_back(std::move(connection));
  return connections;
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

Attempt<Order> hear(Arrival& client, const Patience& patience) {
  keep_alive(client.control.fd());
  const auto hello = client.control.receive(patience, "the client's hello");
  if (!hello) {
    tell(client.control, ControlKind::refused, {Status::failed, hello.error().message});
    return failed_by(hello.error());
  }
  Order order;
  const auto name = hello->workload.value_or("");
  order.spec = find_workload(name);
  order.runner = find_runner(name);
  if (hello->kind != ControlKind::hello || order.spec == nullptr || order.runner == nullptr)
    return refuse(client, {Status::unsupported, fmt::format("no workload '{}' here ({})", name, version_text())});
  if (!order.runner->server) return refuse(client, {Status::unsupported, fmt::format("{} has no server", name)});
  order.transport = hello->transport.value_or("");
  if (order.transport != "tcp" && order.transport != "rdma")
    return refuse(client, {Status::unsupported, fmt::format("no transport '{}' here", order.transport)});
  auto parameters = complete(*order.spec, hello->parameters.value_or(Parameters{}));
  if (!parameters) return refuse(client, {Status::failed, parameters.error().message});
  order.parameters = std::move(*parameters);
  auto plan = order.runner->plan(*order.spec, order.parameters, order.transport, Role::server);
  if (!plan) return refuse(client, plan.error());
  order.plan = std::move(*plan);
  return order;
}

Attempt<Connections> receive(Arrival& client, const Order& order, const std::string& device, Doorstep& doorstep,
                             const Patience& patience) {
  if (order.transport == "tcp") return receive_sockets(client, order, doorstep, patience);
  return receive_verbs(client, order, device, patience);
}

}  // namespace longhaul::workloads
