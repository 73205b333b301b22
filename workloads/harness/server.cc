#include "workloads/harness/server.hh"

#include <fmt/ranges.h>

#include "common/log.hh"
#include "common/version.hh"
#include "workloads/harness/client.hh"
#include "workloads/harness/keepalive.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/transport/sockets/connection.hh"
#include "workloads/transport/sockets/tcp.hh"
#include "workloads/transport/verbs/connect.hh"

namespace longhaul::workloads {
namespace {

constexpr std::int64_t kSetUp = 20'000'000'000;

// Tells the client why it is not served, or not any more; it may be gone already.
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

}  // namespace

Attempt<Server> Server::open(const ServerOptions& options) {
  auto address = any_address(options.port);
  // A device is of either kind: which transport clients will want is not known yet.
  const bool netdev = !options.device.empty() && address_of_netdev(options.device).has_value();
  const auto source = source_address(options.bind, options.device, !netdev);
  if (!source) return tl::unexpected(source.error());
  if (*source) {
    address = **source;
    address.set_port(options.port);
  }
  auto listener = listen_on(address);
  if (!listener) return failed_by(listener.error());
  auto own = options;
  if (netdev) own.device.clear();  // the address stands for it
  return Server{std::move(own), Doorstep{std::move(*listener)}};
}

Attempt<Served> Server::serve_client(Arrival& client, Events& events, int stop) {
  const auto patience = Patience::of(kSetUp, stop);
  auto& control = client.control;
  keep_alive(control.fd());
  const auto hello = control.receive(patience, "the client's hello");
  if (!hello) {
    tell(control, ControlKind::refused, {Status::failed, hello.error().message, ExitCode::failure});
    return failed_by(hello.error());
  }
  const auto refuse_client = [&](Refusal refusal) -> Attempt<Served> {
    tell(control, ControlKind::refused, refusal);
    return tl::unexpected(std::move(refusal));
  };
  const auto* spec = find_workload(hello->workload.value_or(""));
  const auto* runner = find_runner(hello->workload.value_or(""));
  if (hello->kind != ControlKind::hello || spec == nullptr || runner == nullptr)
    return refuse_client(
        {Status::unsupported, fmt::format("no workload '{}' here ({})", hello->workload.value_or(""), version_text())});
  const auto transport = hello->transport.value_or("");
  const auto parameters = complete(*spec, hello->parameters.value_or(Parameters{}));
  if (!parameters) return refuse_client({Status::failed, parameters.error().message});
  const auto plan = runner->plan(*spec, *parameters, transport, Role::server);
  if (!plan) return refuse_client(plan.error());

  const auto own = local_address(control.fd());
  const auto rtt = round_trip(control.fd());
  ControlMessage accepted;
  accepted.kind = ControlKind::accepted;
  accepted.program = version_text();
  Connections connections;
  if (transport == "tcp") {
    auto lanes = doorstep_.lanes(client.session, plan->connections, patience);
    if (!lanes) return refuse_client({Status::failed, lanes.error().message});
    for (auto& fd : *lanes) {
      auto connection = SocketsConnection::open(std::move(fd), *plan);
      if (!connection) return refuse_client(connection.error());
      connections.push_back(std::move(*connection));
    }
    control.send(accepted, patience);
  } else if (transport == "rdma") {
    auto listener = [&]() -> Attempt<VerbsListener> {
      try {
        return VerbsListener::open(own, options_.device);
      } catch (const std::system_error& error) {
        return unsupported("{}", error.what());
      }
    }();
    if (!listener) return refuse_client(listener.error());
    if (const auto lacking = missing(*plan, offers(listener->device())); !lacking.empty())
      return refuse_client({Status::unsupported, fmt::format("{} ({}) has no {}", listener->device().name,
                                                             listener->device().provider, fmt::join(lacking, ", "))});
    accepted.port = listener->port();
    control.send(accepted, patience);
    auto opened = listener->accept(*plan, client.session, rtt, control.fd(), patience);
    if (!opened) {
      auto refusal = opened.error();
      refusal.message += last_words(control, "the client", Patience::of(100'000'000, stop));
      tell(control, ControlKind::failed, refusal);
      return tl::unexpected(std::move(refusal));
    }
    for (auto& connection : *opened) connections.push_back(std::move(connection));
  } else {
    return refuse_client({Status::unsupported, fmt::format("no transport '{}' here", transport)});
  }

  ServerSession session{*spec, Role::server, *parameters, *plan, std::move(connections), control, events, stop};
  auto metrics = runner->server(session);
  ControlMessage finished;
  finished.kind = ControlKind::finished;
  finished.record = session.record(std::move(metrics));
  control.send(finished, patience);
  return Served{peer_address(control.fd()).text(), std::move(*finished.record)};
}

Attempt<Served> Server::serve_one(Events& events, int stop) {
  auto client = doorstep_.next_client(stop);
  auto served = [&]() -> Attempt<Served> {
    try {
      return serve_client(client, events, stop);
    } catch (const PeerFailed& error) {
      return failed("{}", error.what());
    } catch (const Unsupported& error) {
      tell(client.control, ControlKind::failed, {Status::unsupported, error.what(), ExitCode::failure});
      return unsupported("{}", error.what());
    } catch (const std::exception& error) {
      tell(client.control, ControlKind::failed, {Status::failed, error.what(), ExitCode::failure});
      return failed("{}", error.what());
    } catch (const Interrupted&) {
      tell(client.control, ControlKind::failed, {Status::failed, "interrupted", ExitCode::interrupted});
      events.emit(BenchEventKind::failed, "interrupted");
      throw;
    }
  }();
  BenchEvent event;
  if (served) {
    event.kind = BenchEventKind::record;
    event.record = served->record;
  } else {
    event.kind = served.error().status == Status::unsupported ? BenchEventKind::unsupported : BenchEventKind::failed;
    event.message = served.error().message;
  }
  events.emit(std::move(event));
  return served;
}

}  // namespace longhaul::workloads
