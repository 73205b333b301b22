#include "workloads/transport/verbs/transport.hh"

#include <fmt/ranges.h>

#include <system_error>

#include "workloads/transport/socket.hh"
#include "workloads/transport/verbs/connect.hh"

namespace longhaul::workloads::verbs {
namespace {

Attempt<Connections> as_connections(Attempt<VerbsConnections> opened) {
  if (!opened) return tl::unexpected(opened.error());
  return Connections{std::make_move_iterator(opened->begin()), std::make_move_iterator(opened->end())};
}

class Listening final : public Listener {
 public:
  Listening(VerbsListener listener, const Meeting& meeting)
      : listener_(std::move(listener)),
        plan_(meeting.plan),
        session_(meeting.session),
        control_(meeting.control),
        rtt_(round_trip(meeting.control)) {}
  std::uint16_t port() const override { return listener_.port(); }
  Attempt<Connections> accept(const Patience& patience) override {
    return as_connections(listener_.accept(plan_, session_, rtt_, control_, patience));
  }

 private:
  VerbsListener listener_;
  const ConnectionPlan& plan_;
  std::uint64_t session_;
  int control_;
  Nanoseconds rtt_;
};

Attempt<VerbsListener> open(const SocketAddress& own, const std::string& device) {
  try {
    return VerbsListener::open(own, device);
  } catch (const std::system_error& error) {
    return unsupported("{}", error.what());
  }
}

Attempt<std::unique_ptr<Listener>> listen(Meeting meeting) {
  auto listener = open(local_address(meeting.control), meeting.device);
  if (!listener) return tl::unexpected(listener.error());
  const auto& device = listener->device();
  if (const auto names = lacking(meeting.plan, device, listener->opened()); !names.empty())
    return unsupported("{} ({}) has no {}", device.name, device.provider, fmt::join(names, ", "));
  return std::make_unique<Listening>(std::move(*listener), meeting);
}

Attempt<Connections> connect(Meeting meeting, std::uint16_t port, const Patience& patience) {
  auto peer = peer_address(meeting.control);
  peer.set_port(port);
  return as_connections(connect_verbs(local_address(meeting.control), peer, meeting.device, meeting.plan,
                                      meeting.session, round_trip(meeting.control), patience));
}

Attempt<Foreign> dial(Meeting meeting, std::uint16_t port, const std::string& private_data, const Patience& patience) {
  auto peer = peer_address(meeting.control);
  peer.set_port(port);
  auto foreign = connect_foreign(local_address(meeting.control), peer, meeting.device, meeting.plan, private_data,
                                 round_trip(meeting.control), patience);
  if (!foreign) return tl::unexpected(foreign.error());
  return Foreign{std::move(foreign->connection), std::move(foreign->answer)};
}

}  // namespace

std::vector<Transport> transports() {
  return {{.name = "rdma",
           .address_of = address_of_device,
           .sockets = [](const ConnectionPlan&) { return std::size_t{0}; },
           .listen = listen,
           .connect = connect,
           .dial = dial}};
}

}  // namespace longhaul::workloads::verbs
