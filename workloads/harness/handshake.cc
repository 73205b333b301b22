#include "workloads/harness/handshake.hh"

#include "common/log.hh"
#include "common/version.hh"
#include "workloads/harness/keepalive.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

tl::unexpected<RunFailure> refuse(WaitingClient& client, RunFailure failure) {
  tell_client(client.control, ControlKind::refused, failure);
  return tl::unexpected(std::move(failure));
}

ControlMessage acceptance() {
  ControlMessage accepted;
  accepted.kind = ControlKind::accepted;
  accepted.program = version_text();
  return accepted;
}

}  // namespace

void tell_client(ControlChannel& control, ControlKind kind, const RunFailure& failure) {
  ControlMessage message;
  message.kind = kind;
  message.program = version_text();
  message.status = failure.status;
  message.message = failure.message;
  try {
    control.send(message, Patience::of(1s, -1));
  } catch (const std::system_error& error) {
    log::debug("could not tell the client: {}", error.what());
  }
}

std::size_t ClientRequest::clients() const {
  return static_cast<std::size_t>(integer_of(parameters, "client_nodes", 1));
}

Attempt<ClientRequest> read_request(WaitingClient& client, const std::vector<Runner>& runners, bool guarded,
                                    const Patience& patience) {
  keep_alive(client.control.fd());
  const auto hello = client.control.receive(patience, "the client's hello");
  if (!hello) {
    tell_client(client.control, ControlKind::refused, {Status::failed, hello.error().message});
    return failed_by(hello.error());
  }
  ClientRequest request;
  const auto name = hello->workload.value_or("");
  request.runner = find_runner(runners, name);
  if (hello->kind != ControlKind::hello || request.runner == nullptr)
    return refuse(client, {Status::unsupported, fmt::format("no workload '{}' here ({})", name, version_text())});
  if (!request.runner->server) return refuse(client, {Status::unsupported, fmt::format("{} has no server", name)});
  const auto transport = hello->transport.value_or("");
  request.transport = find_transport_code(transport);
  if (request.transport == nullptr) return refuse(client, no_such_transport(transport).value());
  auto parameters = complete(*request.runner->spec, hello->parameters.value_or(Parameters{}));
  if (!parameters) return refuse(client, {Status::failed, parameters.error().message});
  request.parameters = std::move(*parameters);
  auto plan = request.runner->plan(*request.runner->spec, request.parameters, transport, Role::server);
  if (!plan) return refuse(client, plan.error());
  request.plan = std::move(*plan);
  if (request.plan.starts_tool && !guarded)
    return refuse(client, {Status::failed,
                           "tool peer starts a program of others here: only with the same --token WORD at both ends"});
  return request;
}

Attempt<Connections> accept_client(WaitingClient& client, const ClientRequest& request, const std::string& device,
                                   ClientListener& listener, const Patience& patience) {
  auto& control = client.control;
  auto sockets = listener.lanes(client.session, request.transport->sockets(request.plan), patience);
  if (!sockets) return refuse(client, {Status::failed, sockets.error().message});
  auto data_listener = request.transport->listen({.plan = request.plan,
                                                  .session = client.session,
                                                  .device = device,
                                                  .control = control.fd(),
                                                  .sockets = std::move(*sockets)});
  if (!data_listener) return refuse(client, data_listener.error());
  auto accepted = acceptance();
  if (const auto port = (*data_listener)->port(); port > 0) accepted.port = port;
  control.send(accepted, patience);
  auto connections = (*data_listener)->accept(patience);
  if (!connections) {
    auto failure = connections.error();
    failure.message += last_words(control, "the client", Patience::of(100ms, patience.stop));
    tell_client(control, ControlKind::failed, failure);
    return tl::unexpected(std::move(failure));
  }
  ControlMessage connected;
  connected.kind = ControlKind::connected;
  control.send(connected, patience);
  return connections;
}

}  // namespace longhaul::workloads
