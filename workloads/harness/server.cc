#include "workloads/harness/server.hh"

#include <iterator>
#include <utility>

#include "workloads/harness/client.hh"
#include "workloads/harness/handshake.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kServerSetUp = 20s;
constexpr Nanoseconds kGather = 60s;  // until the last of several clients is there

// The first that has such a device; the last one says why there is none.
const Transport& transport_of_device(const std::string& device) {
  const auto& all = transport_list();
  for (const auto& one : all)
    if (!device.empty() && one.address_of(device)) return one;
  return all.back();
}

void tell_all(std::vector<WaitingClient>& clients, ControlKind kind, const RunFailure& failure) {
  for (auto& client : clients) tell_client(client.control, kind, failure);
}

}  // namespace

Attempt<Server> Server::open(const ServerOptions& options, const std::vector<Runner>& runners) {
  // The clients' transport is not known yet: the device may be of any.
  const bool netdev = !options.device.empty() && address_of_netdev(options.device).has_value();
  const auto source = source_address(options.bind, options.device, transport_of_device(options.device));
  if (!source) return tl::unexpected(source.error());
  const auto address = listening_at(*source, options.port, options.admission);
  if (!address) return tl::unexpected(address.error());
  auto listener = listen_on(*address);
  if (!listener) return failed_by(listener.error());
  auto own = options;
  if (netdev) own.device.clear();  // the address stands for it
  return Server{std::move(own), runners, ClientListener{std::move(*listener), options.admission.token}};
}

// The further clients of an request that wants several; others that come meanwhile are sent away.
Attempt<void> Server::gather(std::vector<WaitingClient>& clients, const ClientRequest& request,
                             Connections& connections, int stop) {
  const auto patience = Patience::of(kGather, stop);
  while (clients.size() < request.clients()) {
    auto next = listener_.next_client(patience);
    if (!next)
      return failed("{} of {} clients came within {} s: start the others with the same options", clients.size(),
                    request.clients(), kGather / 1s);
    const auto own = Patience::of(kServerSetUp, stop);
    const auto other = read_request(*next, *runners_, listener_.guarded(), own);
    if (!other) continue;
    if (!other->same_as(request)) {
      tell_client(next->control, ControlKind::refused,
                  {Status::failed, fmt::format("the server awaits {} clients of a {} with other options",
                                               request.clients(), request.runner->spec->name)});
      continue;
    }
    auto further = accept_client(*next, *other, options_.device, listener_, own);
    if (!further) return tl::unexpected(further.error());
    connections.insert(connections.end(), std::make_move_iterator(further->begin()),
                       std::make_move_iterator(further->end()));
    clients.push_back(std::move(*next));
  }
  return {};
}

Attempt<Served> Server::serve_clients(std::vector<WaitingClient>& clients, Events& events, int stop) {
  const auto patience = Patience::of(kServerSetUp, stop);
  const auto request = read_request(clients.front(), *runners_, listener_.guarded(), patience);
  if (!request) return tl::unexpected(request.error());
  auto connections = accept_client(clients.front(), *request, options_.device, listener_, patience);
  if (!connections) return tl::unexpected(connections.error());
  if (auto complete = gather(clients, *request, *connections, stop); !complete) {
    tell_all(clients, ControlKind::failed, complete.error());
    return tl::unexpected(complete.error());
  }
  std::vector<ControlChannel*> controls;
  for (auto& client : clients) controls.push_back(&client.control);
  ServerSession session{
      *request->runner->spec, request->parameters, request->plan, std::move(*connections), controls, events, stop};
  auto metrics = request->runner->server(session);
  const auto strangers = listener_.strangers();
  session.count("strangers", static_cast<double>(strangers - std::exchange(told_strangers_, strangers)));
  Served served{.peer = {}, .record = session.record(std::move(metrics))};
  ControlMessage finished;
  finished.kind = ControlKind::finished;
  finished.record = served.record;
  for (auto* control : controls) {
    control->send(finished, Patience::of(kServerSetUp, stop));
    served.peer += (served.peer.empty() ? "" : ", ") + peer_address(control->fd()).text();
  }
  return served;
}

Attempt<Served> Server::serve_one(Events& events, int stop) {
  std::vector<WaitingClient> clients;
  clients.push_back(*listener_.next_client({observe::RawTime::max(), stop}));
  auto served = [&]() -> Attempt<Served> {
    try {
      return serve_clients(clients, events, stop);
    } catch (const PeerFailed& error) {
      // If there are several, the others have to hear of it.
      tell_all(clients, ControlKind::failed, {Status::failed, error.what()});
      return failed("{}", error.what());
    } catch (const Unsupported& error) {
      tell_all(clients, ControlKind::failed, {Status::unsupported, error.what()});
      return unsupported("{}", error.what());
    } catch (const std::exception& error) {
      tell_all(clients, ControlKind::failed, {Status::failed, error.what()});
      return failed("{}", error.what());
    } catch (const Interrupted&) {
      tell_all(clients, ControlKind::failed, {Status::failed, "interrupted", ExitCode::interrupted});
      events.emit(BenchEventKind::failed, "interrupted");
      throw;
    }
  }();
  events.conclude(served.map([](const Served& one) { return one.record; }));
  return served;
}

}  // namespace longhaul::workloads
