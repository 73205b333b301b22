#include "workloads/harness/client.hh"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/random.h>

#include <optional>

#include "common/error.hh"
#include "common/log.hh"
#include "common/version.hh"
#include "workloads/harness/keepalive.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kClientSetUp = 30s;

std::uint64_t random_session() {
  std::uint64_t session = 0;
  check(::getrandom(&session, sizeof session, 0), "draw a random number");
  return session >> 1;  // JSON's integers are signed
}

struct Dialled {
  ControlChannel control;
  std::vector<OwnFd> lanes;
};

// All connections are begun before any is awaited, so that the path is crossed as often as for one.
Result<Dialled> dial(const SocketAddress& server, const std::optional<SocketAddress>& source, std::size_t lanes,
                     std::uint64_t session, const Token& token, const Patience& patience) {
  std::vector<OwnFd> fds;
  for (std::size_t i = 0; i <= lanes; ++i) {
    auto fd = start_dial(server, source);
    if (!fd) return tl::unexpected(fd.error());
    fds.push_back(std::move(*fd));
  }
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (auto done = finish_dial(fds[i].get(), server, patience); !done) return tl::unexpected(done.error());
    const Preamble preamble{i > 0, static_cast<std::uint16_t>(i > 0 ? i - 1 : 0), session, token};
    write_fully(fds[i].get(), encode(preamble), patience, "introduce a connection to " + server.text());
  }
  keep_alive(fds.front().get());
  Dialled dialled{ControlChannel{std::move(fds.front())}, {}};
  for (std::size_t i = 1; i < fds.size(); ++i) dialled.lanes.push_back(std::move(fds[i]));
  return dialled;
}

PathFacts facts_of(int control) {
  return {.round_trip = round_trip(control),
          .link = BitRate{link_facts(netdev_of(local_address(control))).bits_per_second}};
}

// Tells the peer why this end stops; the peer may be gone already.
void give_up(ControlChannel& control, const std::string& reason) {
  ControlMessage message;
  message.kind = ControlKind::failed;
  message.message = reason;
  try {
    control.send(message, Patience::of(100ms, -1));
  } catch (const std::system_error& error) {
    log::debug("could not tell the peer: {}", error.what());
  }
}

bool hung_up(int fd) {
  pollfd ends{fd, POLLRDHUP, 0};
  return ::poll(&ends, 1, 0) > 0 && ends.revents != 0;
}

Attempt<ControlMessage> ask(ControlChannel& control, const ControlMessage& hello, const Patience& patience) {
  std::string trouble;
  try {
    control.send(hello, patience);
    auto answer = control.receive(patience, "the server's answer (is it serving another client?)");
    if (answer) return std::move(*answer);
    trouble = answer.error().message;
  } catch (const std::system_error& error) {
    trouble = error.what();
  }
  // A server closes connections that have not its token, without a word.
  if (hung_up(control.fd())) trouble += ": does it want a --token, another one, or is it of another version?";
  return failed("{}", trouble);
}

class Client {
 public:
  Client(const ClientOptions& options, const WorkloadSpec& spec, const Runner& runner, Events& events, int stop)
      : options_(options), spec_(spec), runner_(runner), events_(events), stop_(stop) {}

  Attempt<ClientResult> run();

 private:
  const ClientOptions& options_;
  const WorkloadSpec& spec_;
  const Runner& runner_;
  Events& events_;
  int stop_;
  const std::int64_t pressures_ = observe::tcp_memory_pressures();
};

Attempt<ClientResult> Client::run() {
  const auto* transport = find_transport_code(options_.transport);
  if (transport == nullptr) return no_such_transport(options_.transport);
  auto parameters = complete(spec_, options_.parameters);
  if (!parameters) return failed_by(parameters.error());
  auto plan = runner_.plan(spec_, *parameters, options_.transport, Role::client);
  if (!plan) return tl::unexpected(plan.error());
  if (const auto lacking = missing(*plan, find_transport(transport->name)->offers); !lacking.empty())
    return unsupported("{} has no {}: leave --op out", transport->name, fmt::join(lacking, ", "));
  const auto source = source_address(options_.bind, options_.device, *transport);
  if (!source) return tl::unexpected(source.error());
  const auto server = resolve(options_.server.host, options_.server.port, *source ? (*source)->family() : AF_UNSPEC);
  if (!server) return failed_by(server.error());

  const auto patience = Patience::of(kClientSetUp, stop_);
  const auto session_number = random_session();
  auto dialled = dial(*server, *source, transport->sockets(*plan), session_number, options_.token, patience);
  if (!dialled) return failed_by(dialled.error());
  auto& control = dialled->control;
  const auto asked = *parameters;
  if (runner_.settle) {
    *parameters = runner_.settle(spec_, asked, options_.transport, [&] { return facts_of(control.fd()); });
    if (*parameters != asked) plan = runner_.plan(spec_, *parameters, options_.transport, Role::client);
    if (!plan) return tl::unexpected(plan.error());
  }
  ControlMessage hello;
  hello.kind = ControlKind::hello;
  hello.program = version_text();
  hello.session = session_number;
  hello.workload = spec_.name;
  hello.transport = options_.transport;
  hello.parameters = *parameters;
  const auto answer = ask(control, hello, patience);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->kind != ControlKind::accepted)
    return tl::unexpected(RunFailure{answer->status.value_or(Status::failed),
                                     "server: " + answer->message.value_or("no reason given"), ExitCode::failure});

  try {
    auto connections = transport->connect({.plan = *plan,
                                           .session = session_number,
                                           .device = options_.device,
                                           .control = control.fd(),
                                           .sockets = std::move(dialled->lanes)},
                                          answer->port.value_or(0), patience);
    if (!connections) {
      auto failure = connections.error();
      give_up(control, failure.message);
      if (failure.status == Status::failed)
        failure.message += last_words(control, "the server", Patience::of(300ms, stop_));
      return tl::unexpected(std::move(failure));
    }
    events_.emit(BenchEventKind::ready);
    ClientSession session{spec_, Role::client, *parameters, *plan, std::move(*connections), control, events_, stop_};
    session.await_connected();
    if (options_.clock) session.know_clock(*options_.clock);
    auto metrics = runner_.client(session);
    metrics.merge(chosen(asked, *parameters));
    auto server_record = session.finish(metrics);
    return ClientResult{session.record(std::move(metrics)), std::move(server_record)};
  } catch (const PeerFailed& error) {
    return failed("{}", error.what());
  } catch (const Unsupported& error) {
    give_up(control, error.what());
    return unsupported("{}", error.what());
  } catch (const std::exception& error) {
    give_up(control, error.what());
    const auto hint = short_of_memory(pressures_);
    return failed("{}{}{}{}", error.what(), hint.empty() ? "" : "; ", hint,
                  last_words(control, "the server", Patience::of(300ms, stop_)));
  }
}

}  // namespace

Attempt<std::optional<SocketAddress>> source_address(const std::string& bind, const std::string& device,
                                                     const Transport& transport) {
  if (!bind.empty()) {
    const auto address = resolve(bind, 0);
    if (!address) return wrong_input("--bind {}", address.error().message);
    const auto netdev = netdev_of(*address);
    if (netdev.empty()) return wrong_input("--bind {}: not an address of this machine; see 'ip address'", bind);
    // A device that is no network interface is checked when it is opened.
    const bool interfaces = !find_transport(transport.name)->provider.empty();
    if (interfaces && !device.empty() && netdev != device)
      return wrong_input("--bind {} is on {}, not on --device {}: give one of the two", bind, netdev, device);
    return std::optional{*address};
  }
  if (device.empty()) return std::optional<SocketAddress>{};
  const auto address = transport.address_of(device);
  if (!address) return tl::unexpected(address.error());
  return std::optional{*address};
}

Attempt<ClientResult> run_client(const ClientOptions& options, const WorkloadSpec& spec, const Runner& runner,
                                 Events& events, int stop) {
  auto result = [&]() -> Attempt<ClientResult> {
    try {
      return Client{options, spec, runner, events, stop}.run();
    } catch (const std::exception& error) {
      return failed("{}", error.what());
    } catch (const Interrupted&) {
      events.emit(BenchEventKind::failed, "interrupted");
      throw;
    }
  }();
  events.conclude(result.map([](const ClientResult& both) { return both.client; }));
  return result;
}

}  // namespace longhaul::workloads
