#include "degen/service/capture.hh"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.hh"
#include "common/received.hh"

namespace longhaul::degen {
namespace {

constexpr std::uint32_t kSnap = 192;  // the longest IPv4 header, UDP, a probe
constexpr std::size_t kUdpHeader = 8;

constexpr sock_filter statement(int code, std::uint32_t k) {
  return {static_cast<std::uint16_t>(code), 0, 0, k};
}
constexpr sock_filter jump(int code, std::uint32_t k, int yes, int no) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes), static_cast<std::uint8_t>(no), k};
}

constexpr std::array kFilter{
    /* 0*/ statement(BPF_LD | BPF_B | BPF_ABS, 0),
    /* 1*/ statement(BPF_ALU | BPF_RSH | BPF_K, 4),
    /* 2*/ jump(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 9),  // not IPv4: to 12
    /* 3*/ statement(BPF_LD | BPF_B | BPF_ABS, 9),
    /* 4*/ jump(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 14),  // UDP, else refuse
    /* 5*/ statement(BPF_LD | BPF_H | BPF_ABS, 6),
    /* 6*/ jump(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 12, 0),  // a later fragment: refuse
    /* 7*/ statement(BPF_LDX | BPF_B | BPF_MSH, 0),
    /* 8*/ statement(BPF_LD | BPF_H | BPF_IND, 0),
    /* 9*/ jump(BPF_JMP | BPF_JEQ | BPF_K, observe::kProbePort, 8, 0),
    /*10*/ statement(BPF_LD | BPF_H | BPF_IND, 2),
    /*11*/ jump(BPF_JMP | BPF_JEQ | BPF_K, observe::kProbePort, 6, 7),
    /*12*/ statement(BPF_LD | BPF_B | BPF_ABS, 6),
    /*13*/ jump(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 5),  // IPv6 with UDP right behind
    /*14*/ statement(BPF_LD | BPF_H | BPF_ABS, 40),
    /*15*/ jump(BPF_JMP | BPF_JEQ | BPF_K, observe::kProbePort, 2, 0),
    /*16*/ statement(BPF_LD | BPF_H | BPF_ABS, 42),
    /*17*/ jump(BPF_JMP | BPF_JEQ | BPF_K, observe::kProbePort, 0, 1),
    /*18*/ statement(BPF_RET | BPF_K, kSnap),
    /*19*/ statement(BPF_RET | BPF_K, 0),
};

std::vector<std::string> names(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  names.reserve(interfaces.size());
  for (const auto& interface : interfaces) names.push_back(interface.name);
  return names;
}

Nanoseconds stamp_of(msghdr& message) {
  Nanoseconds stamp{0};
  each_ancillary(message, [&](const cmsghdr& part) {
    if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SO_TIMESTAMPNS)
      stamp = to_duration(ancillary_value<timespec>(part));
  });
  return stamp;
}

}  // namespace

std::span<const sock_filter> probe_filter() {
  return kFilter;
}

std::optional<observe::ProbePacket> probe_in_packet(std::string_view packet) {
  if (packet.empty()) return {};
  const auto first = static_cast<unsigned char>(packet[0]);
  std::size_t header = 0;
  if (first >> 4 == 4) header = std::size_t{4} * (first & 0xf);
  if (first >> 4 == 6) header = 40;
  if (header < 20 || packet.size() < header + kUdpHeader + observe::kProbeSize) return {};
  return observe::decode_probe(packet.substr(header + kUdpHeader, observe::kProbeSize));
}

Sighting sighting_of(bool client_side, bool outgoing, const observe::ProbePacket& probe, Nanoseconds time) {
  // Into the router on the client side, or out of it on the server side: forward.
  return {.way = client_side != outgoing ? Way::forward : Way::back,
          .leaving = outgoing,
          .session = probe.session,
          .sequence = probe.sequence,
          .direction = static_cast<std::uint8_t>(probe.direction),
          .time = time};
}

Capture::Capture(const Sides& sides) : client_(names(sides.client)), server_(names(sides.server)) {
  // Protocol 0 hears nothing until bind: the filter is there before the first packet.
  socket_ = OwnFd{
      check(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "open a packet socket for the probes")};
  const sock_fprog program{.len = static_cast<unsigned short>(kFilter.size()),
                           .filter = const_cast<sock_filter*>(kFilter.data())};
  check(::setsockopt(fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), "attach the probe filter");
  const int on = 1;
  check(::setsockopt(fd(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "set SO_TIMESTAMPNS");
  const int size = 4 << 20;
  check(::setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size), "raise the packet socket's buffer");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  check(::bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind the packet socket");
}

std::optional<bool> Capture::client_side(int index) {
  if (const auto it = sides_.find(index); it != sides_.end()) return it->second;
  char name[IF_NAMESIZE] = {};
  std::optional<bool> side;
  if (if_indextoname(static_cast<unsigned>(index), name) != nullptr) {
    if (std::find(client_.begin(), client_.end(), name) != client_.end()) side = true;
    if (std::find(server_.begin(), server_.end(), name) != server_.end()) side = false;
  }
  return sides_[index] = side;
}

void Capture::drain(const std::function<void(const Sighting&)>& each) {
  for (int i = 0; i < 4096; ++i) {
    std::array<char, kSnap> packet;
    alignas(cmsghdr) std::array<char, 128> control;
    sockaddr_ll from{};
    iovec vector{.iov_base = packet.data(), .iov_len = packet.size()};
    msghdr message{.msg_name = &from,
                   .msg_namelen = sizeof from,
                   .msg_iov = &vector,
                   .msg_iovlen = 1,
                   .msg_control = control.data(),
                   .msg_controllen = control.size(),
                   .msg_flags = 0};
    const auto size = ::recvmsg(fd(), &message, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0 && errno == ENETDOWN) continue;  // an interface went down; the others live
    check(size, "receive captured probes");
    const auto side = client_side(from.sll_ifindex);
    if (!side) continue;
    if (const auto probe = probe_in_packet({packet.data(), static_cast<std::size_t>(size)}))
      each(sighting_of(*side, from.sll_pkttype == PACKET_OUTGOING, *probe, stamp_of(message)));
  }
}

}  // namespace longhaul::degen
