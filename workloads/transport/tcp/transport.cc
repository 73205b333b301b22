#include "workloads/transport/tcp/transport.hh"

#include "workloads/transport/socket.hh"
#include "workloads/transport/tcp/connection.hh"

namespace longhaul::workloads::tcp {
namespace {

// The sockets are connected already.
Attempt<Connections> open(Meeting& meeting) {
  Connections connections;
  for (auto& fd : meeting.sockets) {
    auto connection = SocketsConnection::open(std::move(fd), meeting.plan);
    if (!connection) return tl::unexpected(connection.error());
    connections.push_back(std::move(*connection));
  }
  return connections;
}

class Opened final : public Listener {
 public:
  explicit Opened(Connections connections) : connections_(std::move(connections)) {}
  std::uint16_t port() const override { return 0; }
  Attempt<Connections> accept(const Patience&) override { return std::move(connections_); }

 private:
  Connections connections_;
};

Attempt<SocketAddress> address_of(const std::string& device) {
  auto address = address_of_netdev(device);
  if (!address) return wrong_input("--device: {}", address.error().message);
  return *address;
}

Attempt<std::unique_ptr<Listener>> listen(Meeting meeting) {
  auto connections = open(meeting);
  if (!connections) return tl::unexpected(connections.error());
  return std::make_unique<Opened>(std::move(*connections));
}

Attempt<Connections> connect(Meeting meeting, std::uint16_t, const Patience&) {
  return open(meeting);
}

Attempt<Foreign> dial(Meeting meeting, std::uint16_t port, const std::string&, const Patience& patience) {
  auto peer = peer_address(meeting.control);
  peer.set_port(port);
  auto source = local_address(meeting.control);
  source.set_port(0);
  auto fd = start_dial(peer, source);
  if (!fd) return failed_by(fd.error());
  if (auto done = finish_dial(fd->get(), peer, patience); !done) return failed_by(done.error());
  auto connection = SocketsConnection::open(std::move(*fd), meeting.plan);
  if (!connection) return tl::unexpected(connection.error());
  return Foreign{std::move(*connection), {}};
}

}  // namespace

std::vector<Transport> transports() {
  return {{.name = "tcp",
           .address_of = address_of,
           .sockets = [](const ConnectionPlan& plan) { return plan.connections; },
           .listen = listen,
           .connect = connect,
           .dial = dial}};
}

}  // namespace longhaul::workloads::tcp
