#include "observe/probe.hh"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "common/address.hh"
#include "common/error.hh"
#include "observe/clock.hh"

namespace longhaul::observe {
namespace {

template <typename Int>
void put(char* at, Int value) {
  for (std::size_t i = sizeof(Int); i-- > 0; value = static_cast<Int>(value >> 8))
    at[i] = static_cast<char>(value & 0xff);
}

template <typename Int>
Int take(const char* at) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    value = static_cast<Int>(value << 8 | static_cast<unsigned char>(at[i]));
  return value;
}

Result<OwnFd> bound_socket(const std::string& local, std::uint16_t port) {
  const auto address = parse_address(local, port);
  if (!address) return tl::unexpected(address.error());
  OwnFd fd{check(::socket(address->family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "making a UDP socket")};
  check(::bind(fd.get(), address->get(), address->length), fmt::format("binding UDP port {} of {}", port, local));
  return fd;
}

std::uint16_t port_of(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  check(::getsockname(fd, address.get(), &address.length), "asking for a socket's port");
  return address.port();
}

}  // namespace

std::array<char, kProbeSize> encode_probe(const ProbePacket& packet) {
  std::array<char, kProbeSize> bytes{};
  std::copy(kProbeMagic.begin(), kProbeMagic.end(), bytes.data() + probe_offset::magic);
  bytes[probe_offset::version] = kProbeVersion;
  bytes[probe_offset::direction] = static_cast<char>(packet.direction);
  put(bytes.data() + probe_offset::session, packet.session);
  put(bytes.data() + probe_offset::sequence, packet.sequence);
  put(bytes.data() + probe_offset::sender_time, packet.sender_time);
  std::copy(packet.token.begin(), packet.token.end(), bytes.data() + probe_offset::token);
  return bytes;
}

std::optional<ProbePacket> decode_probe(std::string_view payload) {
  if (payload.size() != kProbeSize || !payload.starts_with(kProbeMagic) ||
      payload[probe_offset::version] != kProbeVersion)
    return {};
  const auto direction = static_cast<unsigned char>(payload[probe_offset::direction]);
  if (direction > 1) return {};
  ProbePacket packet{.direction = ProbeDirection{direction},
                     .session = take<std::uint32_t>(payload.data() + probe_offset::session),
                     .sequence = take<std::uint32_t>(payload.data() + probe_offset::sequence),
                     .sender_time = take<std::uint64_t>(payload.data() + probe_offset::sender_time)};
  payload.copy(packet.token.data(), packet.token.size(), probe_offset::token);
  return packet;
}

Result<ProbeSender> ProbeSender::open(const std::string& local, const std::string& peer, std::uint16_t peer_port,
                                      const Token& token) {
  const auto target = parse_address(peer, peer_port);
  if (!target) return tl::unexpected(target.error());
  auto fd = bound_socket(local, 0);
  if (!fd) return tl::unexpected(fd.error());
  // Connected: datagrams of anybody else are refused by the kernel.
  check(::connect(fd->get(), target->get(), target->length), fmt::format("sending from {} to {}", local, peer));
  std::uint32_t session = 0;
  check(::getrandom(&session, sizeof session, 0), "drawing a probe session's number");
  return ProbeSender{std::move(*fd), session, token};
}

bool ProbeSender::send() {
  const auto now = static_cast<std::uint64_t>(to_ns(raw_time()));
  const auto bytes = encode_probe({.session = session_, .sequence = sent(), .sender_time = now, .token = token_});
  sent_at_.push_back(now);
  return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void ProbeSender::receive() {
  std::array<char, kProbeSize + 1> buffer;
  for (;;) {
    const auto n = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    const auto now = static_cast<std::uint64_t>(to_ns(raw_time()));
    if (n < 0) {
      // ECONNREFUSED reports that an earlier probe found no echo; others may be waiting behind it.
      if (errno == ECONNREFUSED || errno == EINTR) continue;
      return;
    }
    const auto packet = decode_probe({buffer.data(), static_cast<std::size_t>(n)});
    if (!packet || packet->direction != ProbeDirection::back || packet->session != session_ ||
        packet->sequence >= sent() || packet->token != token_)
      continue;
    auto& at = sent_at_[packet->sequence];
    if (at == 0) continue;  // a duplicate
    round_trips_.push_back(static_cast<std::int64_t>(now - at));
    at = 0;
  }
}

Result<ProbeEcho> ProbeEcho::open(const std::string& local, std::uint16_t port) {
  auto fd = bound_socket(local, port);
  if (!fd) return tl::unexpected(fd.error());
  const auto taken = port_of(fd->get());
  return ProbeEcho{std::move(*fd), taken};
}

template <typename Admits>
int ProbeEcho::answer_if(Admits admits, int limit) {
  int answered = 0;
  std::array<char, kProbeSize + 1> buffer;
  for (int i = 0; i < limit; ++i) {
    SocketAddress from;
    from.length = sizeof from.storage;
    const auto n = ::recvfrom(fd_.get(), buffer.data(), buffer.size(), 0, from.get(), &from.length);
    if (n < 0) {
      if (errno == EINTR || errno == ECONNREFUSED) continue;
      return answered;
    }
    auto packet = decode_probe({buffer.data(), static_cast<std::size_t>(n)});
    if (!packet || packet->direction != ProbeDirection::forward || !admits(packet->token)) continue;
    packet->direction = ProbeDirection::back;
    const auto reply = encode_probe(*packet);
    if (::sendto(fd_.get(), reply.data(), reply.size(), MSG_NOSIGNAL, from.get(), from.length) ==
        static_cast<ssize_t>(reply.size()))
      ++answered;
  }
  return answered;
}

int ProbeEcho::answer(int limit) {
  return answer_if([](const Token&) { return true; }, limit);
}

int ProbeEcho::answer(std::span<const Token> admitted, int limit) {
  return answer_if(
      [&](const Token& token) {
        return std::any_of(admitted.begin(), admitted.end(), [&](const Token& one) {
          return is_token({token.data(), token.size()}, one);
        });
      },
      limit);
}

}  // namespace longhaul::observe
