#include "workloads/transport/tcp/connection.hh"

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <cerrno>
#include <stdexcept>

#include "common/error.hh"
#include "common/log.hh"
#include "observe/counters.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/sizing.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

// Applies the plan to one direction's buffer; returns the limit, if there is one.
std::string size_buffer(int fd, int option, std::string_view which, Bytes wanted, const BufferLimits& limits) {
  const auto plan = plan_buffer(which, wanted, limits);
  if (plan.request) {
    const int bytes = static_cast<int>(std::min<std::int64_t>(*plan.request, 1 << 30));
    check(::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes), fmt::format("set the {} buffer", which));
  }
  return plan.limit;
}

int socket_number(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  check(::getsockopt(fd, SOL_SOCKET, option, &value, &size), "read a socket option");
  return value;
}

}  // namespace

SocketsConnection::SocketsConnection(OwnFd fd, const ConnectionPlan& plan)
    : fd_(std::move(fd)), memory_(total_memory(plan)) {
  if (plan.prepare) plan.prepare(memory_.bytes());
  const auto link = link_facts(netdev_of(local_address(fd_.get())));
  const auto in_flight = Bytes{static_cast<std::int64_t>(plan.in_flight)};
  const auto wanted = bytes_under_way(BitRate{link.bits_per_second}, round_trip(fd_.get()), in_flight);
  for (auto limit : {size_buffer(fd_.get(), SO_SNDBUF, "send", wanted, send_buffer_limits()),
                     size_buffer(fd_.get(), SO_RCVBUF, "receive", wanted, receive_buffer_limits())})
    if (!limit.empty()) limits_.push_back(std::move(limit));
  for (std::uint32_t i = 0; i < plan.receives; ++i)
    post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
}

Attempt<std::unique_ptr<SocketsConnection>> SocketsConnection::open(OwnFd fd, const ConnectionPlan& plan) {
  const auto& name = plan.congestion_control;
  if (!name.empty() &&
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) < 0)
    return unsupported("congestion control '{}': {}; see net.ipv4.tcp_allowed_congestion_control", name,
                       errno_text(errno));
  return std::unique_ptr<SocketsConnection>(new SocketsConnection(std::move(fd), plan));
}

const std::vector<Capability>& SocketsConnection::capabilities() const {
  return find_transport("tcp")->offers;
}

TransportFacts SocketsConnection::facts() const {
  const auto local = local_address(fd_.get());
  char congestion[16] = "";
  socklen_t size = sizeof congestion;
  check(::getsockopt(fd_.get(), IPPROTO_TCP, TCP_CONGESTION, congestion, &size), "read the congestion control");
  TransportFacts facts;
  facts.transport = "tcp";
  facts.provider = "kernel";
  facts.netdev = netdev_of(local);
  facts.device = facts.netdev;
  facts.local_address = local.host();
  facts.peer_address = peer_address(fd_.get()).host();
  facts.mtu = link_facts(facts.netdev).mtu;
  facts.queue_depth = socket_number(fd_.get(), SO_SNDBUF);
  facts.counters = observe::tcp_gauges(fd_.get());
  facts.timeout_ns = static_cast<std::int64_t>(facts.counters.at("tcp_rto_us") * 1000);
  facts.congestion_control = congestion;
  return facts;
}

std::map<std::string, double> SocketsConnection::counters() const {
  return observe::tcp_counters(fd_.get());
}

bool SocketsConnection::write_some(Piece& piece) {
  const auto* data = memory_.bytes().data() + piece.offset;
  while (piece.done < piece.length) {
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (piece.more ? MSG_MORE : 0);
    const auto sent = ::send(fd_.get(), data + piece.done, piece.length - piece.done, flags);
    if (sent < 0) {
      if (errno == EAGAIN) return false;
      if (errno == EINTR) continue;
      throw_errno("send over TCP");
    }
    piece.done += static_cast<std::size_t>(sent);
  }
  if (piece.signaled) ++finished_sends_;
  return true;
}

void SocketsConnection::flush() {
  while (!sends_.empty() && write_some(sends_.front())) sends_.pop_front();
}

void SocketsConnection::post(const Request& request) {
  if (request.operation != Operation::send)
    throw std::logic_error("sockets only send: one-sided operations are not emulated");
  Piece piece{request.local, request.length, 0, request.signaled, request.more};
  if (sends_.empty() && write_some(piece)) return;
  sends_.push_back(piece);
}

void SocketsConnection::post_receive(std::size_t offset, std::size_t length) {
  receives_.push_back({offset, length, 0, true, false});
}

std::size_t SocketsConnection::poll(std::span<Completion> out) {
  std::size_t count = 0;
  if (!sends_.empty()) flush();
  while (finished_sends_ > 0 && count < out.size()) {
    --finished_sends_;
    out[count++] = {Completion::Kind::sent, 0};
  }
  while (count < out.size() && !receives_.empty()) {
    auto& piece = receives_.front();
    const auto got =
        ::recv(fd_.get(), memory_.bytes().data() + piece.offset + piece.done, piece.length - piece.done, MSG_DONTWAIT);
    if (got == 0) throw_errno("receive over TCP: the peer closed the connection", ECONNRESET);
    if (got < 0) {
      if (errno == EAGAIN) break;
      if (errno == EINTR) continue;
      throw_errno("receive over TCP");
    }
    piece.done += static_cast<std::size_t>(got);
    if (piece.done < piece.length) break;  // more may be there, but the caller may have something better to do
    out[count++] = {Completion::Kind::received, piece.length};
    receives_.pop_front();
  }
  return count;
}

std::uint32_t SocketsConnection::wait_events() const {
  return sends_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
}

void SocketsConnection::check_alive() {
  char byte = 0;
  const auto got = ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (got == 0) throw_errno("TCP connection: the peer closed it", ECONNRESET);
  if (got < 0 && errno != EAGAIN && errno != EINTR) throw_errno("TCP connection");
}

}  // namespace longhaul::workloads
