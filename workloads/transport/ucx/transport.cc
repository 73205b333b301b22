#include "workloads/transport/ucx/transport.hh"

#include <algorithm>

#include "workloads/transport/ucx/connection.hh"
#include "workloads/transport/verbs/device.hh"

namespace longhaul::workloads::ucx {
namespace {

// The device that serves the connection's own address, if it is the one asked for.
Attempt<Choice> verbs_choice(const Meeting& meeting) {
  const auto devices = rdma_devices();
  const auto netdev = netdev_of(local_address(meeting.control));
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& one) {
    return one.netdev == netdev && (meeting.device.empty() || one.name == meeting.device);
  });
  if (found == devices.end())
    return unsupported("{} has no RDMA device{}: {}", netdev, meeting.device.empty() ? "" : " " + meeting.device,
                       describe(devices));
  if (found->iwarp) return unsupported("UCX does not speak iWARP: {} is a {} device", found->name, found->provider);
  return Choice{.transport = "ucx",
                .provider = found->provider,
                .device = found->name,
                .tls = "rc_verbs,tcp:aux",
                .devices = found->name + ":1," + netdev};
}

Attempt<Choice> tcp_choice(const Meeting& meeting) {
  return Choice{.transport = "ucx_tcp",
                .provider = "kernel",
                .device = {},
                .tls = "tcp",
                .devices = netdev_of(local_address(meeting.control))};
}

using Choose = Attempt<Choice> (*)(const Meeting&);

Attempt<Connections> open(Meeting& meeting, const Choice& choice, const Patience& patience) {
  Connections connections;
  for (auto& fd : meeting.sockets) {
    auto connection = UcxConnection::open(std::move(fd), choice, meeting.plan, patience);
    if (!connection) return tl::unexpected(connection.error());
    connections.push_back(std::move(*connection));
  }
  return connections;
}

class Waiting final : public Listener {
 public:
  Waiting(Meeting meeting, Choice choice) : meeting_(std::move(meeting)), choice_(std::move(choice)) {}
  std::uint16_t port() const override { return 0; }
  Attempt<Connections> accept(const Patience& patience) override { return open(meeting_, choice_, patience); }

 private:
  Meeting meeting_;
  Choice choice_;
};

Transport over(std::string name, Choose choose, Attempt<SocketAddress> (*address_of)(const std::string&)) {
  return {.name = std::move(name),
          .address_of = address_of,
          .sockets = [](const ConnectionPlan& plan) { return plan.connections; },
          .listen = [choose](Meeting meeting) -> Attempt<std::unique_ptr<Listener>> {
            if (const auto calls = library(); !calls) return tl::unexpected(calls.error());
            auto choice = choose(meeting);
            if (!choice) return tl::unexpected(choice.error());
            return std::make_unique<Waiting>(std::move(meeting), std::move(*choice));
          },
          .connect = [choose](Meeting meeting, std::uint16_t, const Patience& patience) -> Attempt<Connections> {
            const auto choice = choose(meeting);
            if (!choice) return tl::unexpected(choice.error());
            return open(meeting, *choice, patience);
          }};
}

Attempt<SocketAddress> interface_address(const std::string& device) {
  auto address = address_of_netdev(device);
  if (!address) return wrong_input("--device: {}", address.error().message);
  return *address;
}

}  // namespace

std::vector<Transport> transports() {
  return {over("ucx", verbs_choice, address_of_device), over("ucx_tcp", tcp_choice, interface_address)};
}

}  // namespace longhaul::workloads::ucx
