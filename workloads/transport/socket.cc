#include "workloads/transport/socket.hh"

#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <fstream>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::workloads {
namespace {

constexpr int kBacklog = 512;

void set_option(int fd, int level, int option, int value, const char* what) {
  check(::setsockopt(fd, level, option, &value, sizeof value), what);
}

OwnFd open_socket(int family) {
  OwnFd fd{check(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "open a TCP socket")};
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "set TCP_NODELAY");
  return fd;
}

// The third number of tcp_wmem and tcp_rmem is where tuning ends.
std::int64_t third_number(const std::string& file) {
  std::ifstream in{file};
  std::int64_t least = 0;
  std::int64_t initial = 0;
  std::int64_t most = 0;
  in >> least >> initial >> most;
  return most;
}

std::int64_t number(const std::string& file) {
  std::int64_t value = 0;
  std::ifstream{file} >> value;
  return value;
}

}  // namespace

Result<OwnFd> listen_on(const SocketAddress& address) {
  auto fd = open_socket(address.family());
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1, "set SO_REUSEADDR");
  if (address.family() == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0, "clear IPV6_V6ONLY");
  if (::bind(fd.get(), address.get(), address.length) < 0 || ::listen(fd.get(), kBacklog) < 0) {
    if (errno == EADDRINUSE)
      return fail("port {} is in use at {}: end the program that listens there, or choose another with --port",
                  address.port(), address.host());
    if (errno == EADDRNOTAVAIL)
      return refuse("{} is not an address of this machine: see 'ip address', and correct --bind", address.host());
    if (errno == EACCES) return refuse("port {} needs privileges: choose one above 1023 with --port", address.port());
    throw_errno("listen on " + address.text());
  }
  return fd;
}

Result<OwnFd> start_dial(const SocketAddress& peer, const std::optional<SocketAddress>& bind) {
  auto fd = open_socket(peer.family());
  if (bind) {
    auto source = *bind;
    source.set_port(0);
    if (source.family() != peer.family())
      return refuse("--bind {} and the server's address {} are not of the same family", source.host(), peer.host());
    if (::bind(fd.get(), source.get(), source.length) < 0) {
      if (errno == EADDRNOTAVAIL)
        return refuse("{} is not an address of this machine: see 'ip address', and correct --bind", source.host());
      throw_errno("bind to " + source.text());
    }
  }
  if (::connect(fd.get(), peer.get(), peer.length) < 0 && errno != EINPROGRESS)
    return fail("connect to {}: {}", peer.text(), errno_text(errno));
  return fd;
}

Result<void> finish_dial(int fd, const SocketAddress& peer, const Patience& patience) {
  if (!wait_for(fd, POLLOUT, patience))
    return fail("connect to {}: no answer; is the host up, and the path unimpaired enough?", peer.text());
  int error = 0;
  socklen_t size = sizeof error;
  check(::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), "read a connection's state");
  if (error == ECONNREFUSED)
    return fail(
        "connect to {}: nobody listens there; start the server first, e.g. longhaul-bench latency --listen, with "
        "--token "
        "or --open where it is another machine",
        peer.text());
  if (error != 0) return fail("connect to {}: {}", peer.text(), errno_text(error));
  return {};
}

OwnFd accept_from(int listener) {
  OwnFd fd{::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!fd) {
    // accept(2): a connection that died while it waited shows its network error here.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS || errno == EBADF || errno == EINVAL)
      throw_errno("accept a connection");
    return fd;
  }
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1, "set TCP_NODELAY");
  return fd;
}

void write_fully(int fd, std::string_view bytes, const Patience& patience, const std::string& attempted) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT, patience)) throw_errno(attempted, ETIMEDOUT);
    } else if (errno != EINTR) {
      throw_errno(attempted);
    }
  }
}

void read_fully(int fd, char* data, std::size_t size, const Patience& patience, const std::string& attempted) {
  while (size > 0) {
    const auto got = ::recv(fd, data, size, MSG_DONTWAIT);
    if (got > 0) {
      data += got;
      size -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      throw_errno(attempted + ": the peer closed the connection", ECONNRESET);
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLIN, patience)) throw_errno(attempted, ETIMEDOUT);
    } else if (errno != EINTR) {
      throw_errno(attempted);
    }
  }
}

Nanoseconds round_trip(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  check(::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), "read TCP_INFO");
  return std::chrono::microseconds{info.tcpi_rtt};
}

BufferLimits send_buffer_limits() {
  return {third_number("/proc/sys/net/ipv4/tcp_wmem"), number("/proc/sys/net/core/wmem_max")};
}

BufferLimits receive_buffer_limits() {
  return {third_number("/proc/sys/net/ipv4/tcp_rmem"), number("/proc/sys/net/core/rmem_max")};
}

BufferPlan plan_buffer(std::string_view which, Bytes wanted, const BufferLimits& limits) {
  if (wanted.count <= limits.tuned) return {};
  if (wanted.count <= limits.requested) return {wanted.count, {}};
  const auto best = std::max(limits.tuned, limits.requested);
  BufferPlan plan;
  if (limits.requested > limits.tuned) plan.request = limits.requested;
  plan.limit =
      fmt::format("the {} buffer holds {} bytes of {} on their way: raise net.ipv4.tcp_{}mem or net.core.{}mem_max",
                  which, best, wanted.count, which.front() == 's' ? 'w' : 'r', which.front() == 's' ? 'w' : 'r');
  return plan;
}

}  // namespace longhaul::workloads
