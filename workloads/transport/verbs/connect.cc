#include "workloads/transport/verbs/connect.hh"

#include <poll.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>

#include "common/error.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads {
namespace {

constexpr int kResolveMilliseconds = 5000;
constexpr int kPortTries = 10;
constexpr std::size_t kAskedAtOnce = 64;

CmId create_id(rdma_event_channel* channel) {
  rdma_cm_id* id = nullptr;
  check(::rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), "create an rdma_cm identifier");
  return CmId{id};
}

// The device that rdma_cm took; refuses one that was not asked for.
Attempt<RdmaDevice> device_of(rdma_cm_id* id, const std::string& asked, const std::string& address) {
  const auto devices = rdma_devices();
  if (id->verbs == nullptr) return unsupported("{} belongs to no RDMA device: {}", address, describe(devices));
  const std::string name = ::ibv_get_device_name(id->verbs->device);
  if (!asked.empty() && name != asked)
    return unsupported(
        "asked for RDMA device '{}', but rdma_cm uses '{}' at {}: bind to an address of {}'s own interface (one RDMA "
        "device an interface); {}",
        asked, name, address, asked, describe(devices));
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == name; });
  if (found == devices.end()) return failed("RDMA device '{}' vanished", name);
  return *found;
}

// Binds to an address of this machine, which settles the device. It is looked up when `look_up`, else left empty.
Attempt<RdmaDevice> bind_to(rdma_cm_id* id, SocketAddress& address, const std::string& asked, bool look_up) {
  if (::rdma_bind_addr(id, address.get()) != 0) {
    if (errno == ENODEV || errno == EADDRNOTAVAIL)
      return unsupported("{} belongs to no RDMA device: {}", address.host(), describe(rdma_devices()));
    return failed("bind RDMA to {}: {}", address.host(), errno_text(errno));
  }
  if (!look_up) return RdmaDevice{};
  return device_of(id, asked, address.host());
}

void set_ack_timeout(rdma_cm_id* id, Nanoseconds rtt, const ConnectionPlan& plan) {
  auto exponent = ack_timeout_exponent(rtt, plan.windows);
  if (::rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &exponent, sizeof exponent) != 0)
    log::debug("this kernel keeps its own ack time-out: {}", errno_text(errno));
}

// One connection on its way to the peer: device settled, address and route resolved.
struct Resolved {
  EventChannel channel;
  CmId id;
};

// Each step begins what the next one awaits. `used` is looked up where it is given.
Attempt<Resolved> begin(SocketAddress from, SocketAddress to, const std::string& device, RdmaDevice* used,
                        const std::string& attempted) {
  Resolved one{open_channel(), {}};
  one.id = create_id(one.channel.get());
  auto bound = bind_to(one.id.get(), from, device, used != nullptr);
  if (!bound) return tl::unexpected(bound.error());
  if (used != nullptr) *used = std::move(*bound);
  if (::rdma_resolve_addr(one.id.get(), nullptr, to.get(), kResolveMilliseconds) != 0)
    return failed("{}: {}", attempted, errno_text(errno));
  return one;
}

Attempt<void> resolve_route(const Resolved& one, const ConnectionPlan& plan, Nanoseconds rtt, const Patience& patience,
                            const std::string& attempted) {
  if (const auto event = expect_event(one.channel.get(), RDMA_CM_EVENT_ADDR_RESOLVED, patience, attempted); !event)
    return tl::unexpected(event.error());
  set_ack_timeout(one.id.get(), rtt, plan);  // before the route is resolved: the path's lifetime comes from it
  if (::rdma_resolve_route(one.id.get(), kResolveMilliseconds) != 0)
    return failed("{}: {}", attempted, errno_text(errno));
  return {};
}

Attempt<void> await_route(const Resolved& one, const Patience& patience, const std::string& attempted) {
  const auto event = expect_event(one.channel.get(), RDMA_CM_EVENT_ROUTE_RESOLVED, patience, attempted);
  if (!event) return tl::unexpected(event.error());
  return {};
}

struct Established {
  std::unique_ptr<VerbsConnection> connection;
  std::string answer;  // private data
};

// The private data of the request for one of the connections.
using Greeting = std::function<std::string(const VerbsConnection& connection, std::uint16_t lane)>;

Attempt<std::vector<Established>> establish(const SocketAddress& source, const SocketAddress& peer,
                                            const std::string& device, const ConnectionPlan& plan,
                                            const Greeting& greeting, Nanoseconds rtt, const Patience& patience,
                                            const std::string& attempted) {
  if (const auto devices = rdma_devices(); devices.empty()) return unsupported("{}", describe(devices));
  // Every step is begun for all before it is awaited for any: the path is crossed as often as for one.
  std::vector<Resolved> pending;
  RdmaDevice used;
  auto from = source;
  from.set_port(0);
  for (std::size_t i = 0; i < plan.connections; ++i) {
    auto one = begin(from, peer, device, i == 0 ? &used : nullptr, attempted);
    if (!one) return tl::unexpected(one.error());
    pending.push_back(std::move(*one));
  }
  for (const auto& one : pending)
    if (auto done = resolve_route(one, plan, rtt, patience, attempted); !done) return tl::unexpected(done.error());

  for (const auto& one : pending)
    if (auto done = await_route(one, patience, attempted); !done) return tl::unexpected(done.error());

  using Opened = Attempt<std::unique_ptr<VerbsConnection>>;
  const auto ask = [&](Resolved one, std::uint16_t lane) -> Opened {
    auto connection = VerbsConnection::open(std::move(one.channel), std::move(one.id), used, plan, rtt);
    for (int tries = 1;; ++tries) {
      if (!connection) return connection;
      const auto own = greeting(**connection, lane);
      auto parameters = (*connection)->parameters();
      parameters.private_data = own.data();
      parameters.private_data_len = static_cast<std::uint8_t>(own.size());
      if (::rdma_connect((*connection)->id(), &parameters) == 0) return connection;
      // rdma_cm chose a port that a TCP socket has or had a minute ago; siw connects by TCP and so cannot have it.
      if (errno != EADDRINUSE || tries == kPortTries) return failed("{}: {}", attempted, errno_text(errno));
      auto again = begin(from, peer, device, nullptr, attempted);
      if (!again) return tl::unexpected(again.error());
      if (auto done = resolve_route(*again, plan, rtt, patience, attempted); !done) return tl::unexpected(done.error());
      if (auto done = await_route(*again, patience, attempted); !done) return tl::unexpected(done.error());
      connection = VerbsConnection::open(std::move(again->channel), std::move(again->id), used, plan, rtt);
    }
  };
  // For iWARP rdma_connect returns when its TCP connection is there, a round trip later: each has a thread of its own.
  // Not more at a time than a process has room for stacks.
  std::vector<Established> all;
  std::optional<RunFailure> failure;
  for (std::size_t next = 0; next < pending.size() && !failure;) {
    std::vector<std::future<Opened>> asked;
    for (; next < pending.size() && asked.size() < kAskedAtOnce; ++next)
      asked.push_back(std::async(pending.size() > 1 ? std::launch::async : std::launch::deferred, ask,
                                 std::move(pending[next]), static_cast<std::uint16_t>(next)));
    for (auto& one : asked) {
      auto connection = one.get();  // of all, also where one has failed: they use what is here
      if (connection)
        all.push_back({std::move(*connection), {}});
      else if (!failure)
        failure = connection.error();
    }
  }
  if (failure) return tl::unexpected(*failure);
  for (auto& one : all) {
    auto event = expect_event(one.connection->channel(), RDMA_CM_EVENT_ESTABLISHED, patience, attempted);
    if (!event) return tl::unexpected(event.error());
    one.answer = std::move(event->private_data);
  }
  return all;
}

std::string attempt(const SocketAddress& source, const SocketAddress& peer) {
  return fmt::format("connect over RDMA from {} to {}", source.host(), peer.text());
}

}  // namespace

Attempt<VerbsConnections> connect_verbs(const SocketAddress& source, const SocketAddress& peer,
                                        const std::string& device, const ConnectionPlan& plan, std::uint64_t session,
                                        Nanoseconds rtt, const Patience& patience) {
  const auto introduce = [&](const VerbsConnection& connection, std::uint16_t lane) {
    const auto own = encode(connection.introduction(session, lane));
    return std::string{own.begin(), own.end()};
  };
  const auto attempted = attempt(source, peer);
  auto all = establish(source, peer, device, plan, introduce, rtt, patience, attempted);
  if (!all) return tl::unexpected(all.error());
  VerbsConnections connections;
  for (auto& one : *all) {
    const auto introduction = decode_introduction(one.answer);
    if (!introduction) return failed("{}: the server's answer is not longhaul's", attempted);
    one.connection->set_peer(*introduction);
    connections.push_back(std::move(one.connection));
  }
  return connections;
}

Attempt<ForeignConnection> connect_foreign(const SocketAddress& source, const SocketAddress& peer,
                                           const std::string& device, const ConnectionPlan& plan,
                                           const std::string& private_data, Nanoseconds rtt, const Patience& patience) {
  auto all = establish(
      source, peer, device, plan, [&](const VerbsConnection&, std::uint16_t) { return private_data; }, rtt, patience,
      attempt(source, peer));
  if (!all) return tl::unexpected(all.error());
  return ForeignConnection{std::move(all->front().connection), std::move(all->front().answer)};
}

Attempt<VerbsListener> VerbsListener::open(const SocketAddress& address, const std::string& device) {
  if (const auto devices = rdma_devices(); devices.empty()) return unsupported("{}", describe(devices));
  auto channel = open_channel();
  auto id = create_id(channel.get());
  auto local = address;
  local.set_port(0);
  auto used = bind_to(id.get(), local, device, true);
  if (!used) return tl::unexpected(used.error());
  if (::rdma_listen(id.get(), 512) != 0) return failed("listen over RDMA at {}: {}", address.host(), errno_text(errno));
  return VerbsListener{std::move(channel), std::move(id), std::move(*used)};
}

std::uint16_t VerbsListener::port() const {
  return ntohs(::rdma_get_src_port(id_.get()));
}

Attempt<VerbsConnections> VerbsListener::accept(const ConnectionPlan& plan, std::uint64_t session, Nanoseconds rtt,
                                                int control, const Patience& patience) {
  VerbsConnections connections(plan.connections);
  for (std::size_t accepted = 0; accepted < plan.connections;) {
    const auto event = next_event(channel_.get());
    if (!event) {
      pollfd fds[3] = {{channel_->fd, POLLIN, 0}, {control, POLLIN, 0}, {patience.stop, POLLIN, 0}};
      ::poll(fds, 3, 1000);
      if (fds[2].revents != 0) throw Interrupted{};
      if (fds[1].revents != 0 && fds[0].revents == 0)
        return failed("the client gave up while it opened its RDMA connections");
      if (observe::raw_time() < patience.deadline) continue;
    }
    if (!event) return failed("the client opened {} of {} RDMA connections in time", accepted, plan.connections);
    if (event->type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;  // a rejected stranger's end, for instance
    CmId id{event->id};
    const auto peer = decode_introduction(event->private_data);
    if (!peer || peer->session != session || peer->lane >= plan.connections || connections[peer->lane]) {
      log::warn("rejected an RDMA connection that is not this client's");
      ::rdma_reject(id.get(), nullptr, 0);
      continue;
    }
    auto channel = open_channel();
    check(::rdma_migrate_id(id.get(), channel.get()), "give an RDMA connection its own channel");
    set_ack_timeout(id.get(), rtt, plan);
    auto connection = VerbsConnection::open(std::move(channel), std::move(id), device_, plan, rtt);
    if (!connection) return tl::unexpected(connection.error());
    (*connection)->set_peer(*peer);
    const auto own = encode((*connection)->introduction(session, peer->lane));
    // The other end must have room for what one end initiates.
    auto parameters = (*connection)->parameters(event->responder_resources, event->initiator_depth);
    parameters.private_data = own.data();
    parameters.private_data_len = own.size();
    check(::rdma_accept((*connection)->id(), &parameters), "accept an RDMA connection");
    connections[peer->lane] = std::move(*connection);
    ++accepted;
  }
  return connections;
}

}  // namespace longhaul::workloads
