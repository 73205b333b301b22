#include "degen/service/capture.hh"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

std::string udp(std::uint16_t source, std::uint16_t destination, const std::string& payload) {
  const auto port = [](std::uint16_t p) { return std::string{static_cast<char>(p >> 8), static_cast<char>(p & 0xff)}; };
  return port(source) + port(destination) + std::string(4, '\0') + payload;
}

std::string ipv4(const std::string& payload, char protocol = 17, int options = 0, char fragment = 0) {
  std::string header(static_cast<std::size_t>(20 + options), '\0');
  header[0] = static_cast<char>(0x40 + (20 + options) / 4);
  header[7] = fragment;
  header[9] = protocol;
  return header + payload;
}

std::string ipv6(const std::string& payload, char next = 17) {
  std::string header(40, '\0');
  header[0] = 0x60;
  header[6] = next;
  return header + payload;
}

std::string probe_payload(std::uint32_t sequence) {
  const auto bytes = observe::encode_probe(
      {.direction = observe::ProbeDirection::back, .session = 7, .sequence = sequence, .sender_time = 1});
  return {bytes.data(), bytes.size()};
}

// The kernel runs the filter on what a unix datagram socket receives, from its first byte: as on the packet socket.
bool passes(const std::string& packet) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) != 0) throw std::runtime_error("socketpair");
  const OwnFd in{pair[0]}, out{pair[1]};
  const auto filter = probe_filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  if (::setsockopt(out.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    throw std::runtime_error("SO_ATTACH_FILTER");
  (void)::send(in.get(), packet.data(), packet.size(), 0);
  char buffer[2048];
  return ::recv(out.get(), buffer, sizeof buffer, 0) > 0;
}

TEST(Capture, TheFilterTakesTheProbePortOnly) {
  const auto payload = probe_payload(1);
  EXPECT_TRUE(passes(ipv4(udp(40000, 7473, payload))));
  EXPECT_TRUE(passes(ipv4(udp(7473, 40000, payload))));
  EXPECT_TRUE(passes(ipv4(udp(40000, 7473, payload), 17, 8)));
  EXPECT_TRUE(passes(ipv6(udp(40000, 7473, payload))));
  EXPECT_TRUE(passes(ipv6(udp(7473, 40000, payload))));
  EXPECT_FALSE(passes(ipv4(udp(40000, 4791, payload))));
  EXPECT_FALSE(passes(ipv4(udp(40000, 7473, payload), 6)));
  EXPECT_FALSE(passes(ipv4(udp(40000, 7473, payload), 17, 0, 5)));
  EXPECT_FALSE(passes(ipv6(udp(40000, 7474, payload))));
  EXPECT_FALSE(passes(ipv6(udp(40000, 7473, payload), 6)));
  EXPECT_FALSE(passes("\x08\x06 an ARP packet of no interest at all to anybody here"));
}

TEST(Capture, FindsTheProbeInThePacket) {
  for (const auto& packet : {ipv4(udp(1, 7473, probe_payload(5))), ipv4(udp(1, 7473, probe_payload(5)), 17, 12),
                             ipv6(udp(1, 7473, probe_payload(5)))}) {
    const auto probe = probe_in_packet(packet);
    ASSERT_TRUE(probe);
    EXPECT_EQ(probe->session, 7u);
    EXPECT_EQ(probe->sequence, 5u);
    EXPECT_EQ(probe->direction, observe::ProbeDirection::back);
  }
  EXPECT_FALSE(probe_in_packet(""));
  EXPECT_FALSE(probe_in_packet(ipv4(udp(1, 7473, "too short"))));
  EXPECT_FALSE(probe_in_packet(ipv4(udp(1, 7473, std::string(64, 'x')))));
}

TEST(Capture, WhereAPacketIsSeenTellsItsWay) {
  const observe::ProbePacket probe{.session = 3, .sequence = 4};
  const auto way = [&](bool client_side, bool outgoing) { return sighting_of(client_side, outgoing, probe, 5ns).way; };
  EXPECT_EQ(way(true, false), Way::forward);  // comes from a client
  EXPECT_EQ(way(false, true), Way::forward);  // goes to a server
  EXPECT_EQ(way(false, false), Way::back);
  EXPECT_EQ(way(true, true), Way::back);
  EXPECT_TRUE(sighting_of(false, true, probe, 5ns).leaving);
}

}  // namespace
}  // namespace longhaul::degen
