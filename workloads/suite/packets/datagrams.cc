#include "workloads/suite/packets/datagrams.hh"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "common/error.hh"
#include "common/received.hh"
#include "observe/clock.hh"
#include "workloads/suite/packets/spec.hh"

namespace longhaul::workloads::packets {
namespace {

constexpr int kBuffer = 32 << 20;  // the kernel grants at most net.core.rmem_max
constexpr int kRoomTime = 1000;    // ms
constexpr std::uint32_t kMagic = 0x6c687031;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t phase = 0;
  std::uint64_t sequence = 0;
  std::int64_t sent = 0;
  std::uint64_t unused = 0;
};
static_assert(sizeof(Header) == kHeader);

struct Stamps {
  std::int64_t received = 0;
  std::uint32_t overflowed = 0;  // so far
};

Stamps stamps_of(msghdr& message) {
  Stamps stamps;
  each_ancillary(message, [&](const cmsghdr& part) {
    if (part.cmsg_level != SOL_SOCKET) return;
    if (part.cmsg_type == SCM_TIMESTAMPNS) stamps.received = to_duration(ancillary_value<timespec>(part)).count();
    if (part.cmsg_type == SO_RXQ_OVFL) stamps.overflowed = ancillary_value<std::uint32_t>(part);
  });
  return stamps;
}

}  // namespace

Datagrams::Datagrams(const SocketAddress& local, const SocketAddress& peer)
    : fd_(check(::socket(local.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "create a datagram socket")) {
  const int on = 1;
  check(::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer), "enlarge a socket's buffer");
  check(::setsockopt(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "ask for times of arrival");
  check(::setsockopt(fd_.get(), SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on), "ask for overflows");
  check(::bind(fd_.get(), local.get(), local.length), "bind a datagram socket to " + local.text());
  check(::connect(fd_.get(), peer.get(), peer.length), "connect a datagram socket to " + peer.text());
}

void Datagrams::send(std::uint32_t phase, std::uint64_t sequence, std::size_t size) {
  datagram_.resize(std::max(size, sizeof(Header)));
  for (;;) {
    const Header header{.phase = phase, .sequence = sequence, .sent = observe::wall_time()};
    std::memcpy(datagram_.data(), &header, sizeof header);
    if (::send(fd_.get(), datagram_.data(), datagram_.size(), 0) >= 0) return;
    if (errno == ECONNREFUSED) throw std::runtime_error("the server takes no datagrams any more");
    if (errno != EAGAIN) throw_errno("send a datagram");
    // The adapter's queue is full: what comes later is sent later, and says so.
    pollfd room{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, kRoomTime) == 0)
      throw std::runtime_error(fmt::format("no datagram could be sent for {} ms", kRoomTime));
  }
}

void Datagrams::drain(std::uint32_t phase, std::vector<DatagramArrival>& arrivals) {
  receive_all<Header>(fd_.get(), 0, [&](mmsghdr& message, const Header& header) {
    const auto stamps = stamps_of(message.msg_hdr);
    if (stamps.overflowed > 0)
      throw std::runtime_error(fmt::format(
          "{} datagrams found the socket's buffer full: raise net.core.rmem_max or --interval", stamps.overflowed));
    if (message.msg_len < sizeof header || header.magic != kMagic || header.phase != phase) return;
    arrivals.push_back({.sequence = header.sequence, .sent = header.sent, .received = stamps.received});
  });
}

}  // namespace longhaul::workloads::packets
