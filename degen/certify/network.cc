#include "degen/certify/network.hh"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/child.hh"
#include "common/error.hh"
#include "common/printable.hh"

namespace longhaul::degen {
namespace {

struct Side {
  const char* at_router;  // its interface
  const char* address;
  const char* link_address;
  const char* gateway;
  const char* gateway_link_address;
};
constexpr Side kClient{PrivateNetwork::kClientSide, "10.0.1.1", "02:00:00:00:01:01", "10.0.1.254", "02:00:00:00:01:fe"};
constexpr Side kServer{PrivateNetwork::kServerSide, "10.0.2.1", "02:00:00:00:02:01", "10.0.2.254", "02:00:00:00:02:fe"};

OwnFd namespace_of_thread() {
  return OwnFd{check(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "open the network namespace")};
}

void enter(const OwnFd& place) {
  check(::setns(place.get(), CLONE_NEWNET), "enter a network namespace");
}

// Of the namespace that the thread is in. Where the kernel has no such file (IPv6), there is nothing to set.
Result<void> set(const std::string& name, const char* value) {
  const OwnFd file{::open(("/proc/sys/net/" + name).c_str(), O_WRONLY | O_CLOEXEC)};
  if (!file && errno == ENOENT) return {};
  if (!file || ::write(file.get(), value, std::strlen(value)) < 0)
    return fail("net.{} cannot be set in a network namespace of its own: {}", name, std::strerror(errno));
  return {};
}

Result<void> ip(const std::string& batch) {
  std::string complaints;
  const auto done = run_command({"sh", "-c", "exec ip -batch - <<'END'\n" + batch + "END\n"}, &complaints);
  if (done.exit.ok()) return {};
  if (done.exit.code == 127) return refuse("the program ip is missing: apt-get install iproute2");
  return fail("ip (iproute2): {}", printable(complaints));
}

}  // namespace

Result<PrivateNetwork> PrivateNetwork::make() {
  PrivateNetwork network;
  for (auto* place : {&network.client_, &network.server_, &network.router_}) {
    if (::unshare(CLONE_NEWNET) != 0)
      return refuse("a network namespace of its own: {}: run degen certify as root (your interfaces are not touched)",
                    std::strerror(errno));
    *place = namespace_of_thread();
    for (const auto* name : {"ipv6/conf/all/disable_ipv6", "ipv6/conf/default/disable_ipv6"})
      if (auto ok = set(name, "1"); !ok) return tl::unexpected(ok.error());
  }
  if (auto ok = set("ipv4/ip_forward", "1"); !ok) return tl::unexpected(ok.error());

  const auto outside = [](const OwnFd& place) { return fmt::format("/proc/{}/fd/{}", ::getpid(), place.get()); };
  for (const auto& [side, place] : {std::pair{kClient, &network.client_}, std::pair{kServer, &network.server_}}) {
    enter(network.router_);
    if (auto ok = ip(fmt::format("link add {0} address {1} type veth peer name end0 address {2} netns {3}\n"
                                 "address add {4}/24 dev {0}\n"
                                 "link set {0} up\n"
                                 "neighbour add {5} lladdr {2} dev {0} nud permanent\n",
                                 side.at_router, side.gateway_link_address, side.link_address, outside(*place),
                                 side.gateway, side.address));
        !ok)
      return tl::unexpected(ok.error());
    enter(*place);
    if (auto ok = ip(fmt::format("address add {0}/24 dev end0\n"
                                 "link set end0 up\n"
                                 "neighbour add {1} lladdr {2} dev end0 nud permanent\n"
                                 "route add default via {1}\n",
                                 side.address, side.gateway, side.gateway_link_address));
        !ok)
      return tl::unexpected(ok.error());
  }
  enter(network.router_);
  return network;
}

OwnFd PrivateNetwork::socket(const OwnFd& place) const {
  enter(place);
  OwnFd made{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const int failed = made ? 0 : errno;
  enter(router_);
  errno = failed;
  check(made.get(), "create a datagram socket");
  return made;
}

std::uint32_t PrivateNetwork::source(Way way) {
  return ::inet_addr(way == Way::forward ? kClient.address : kServer.address);
}

std::uint32_t PrivateNetwork::sink(Way way) {
  return source(way == Way::forward ? Way::back : Way::forward);
}

}  // namespace longhaul::degen
