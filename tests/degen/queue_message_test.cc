#include "degen/engines/nfqueue/queue_message.hh"

#include <gmock/gmock.h>

#include <cstring>

#include "degen/engines/nfqueue/engine.hh"
#include "tests/degen/hex.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using test::hex;

// Golden bytes: struct nlmsghdr (native, little-endian here), nfgenmsg with the queue in network order, attributes.
TEST(QueueMessage, Bind) {
  EXPECT_EQ(hex(bind_message(0xDE60, 4295, Copied::nothing)),
            "40000000 02030500 01000000 00000000\n"    // NFQNL_MSG_CONFIG, REQUEST | ACK, sequence 1
            "0000de60 08000100 01000000 09000200\n"    // queue; CMD bind; PARAMS
            "00000000 01000000 08000300 000010c7\n"    // meta only; QUEUE_MAXLEN
            "08000500 00000004 08000400 00000004\n");  // FLAGS and MASK: GSO
  // Whoever changes packets gets them whole, and as they are on the link.
  const auto whole = hex(bind_message(0xDE60, 4295, Copied::whole));
  EXPECT_NE(whole.find("09000200\n0000ffff 02000000"), std::string::npos) << whole;
  EXPECT_NE(whole.find("08000500 00000000 08000400 00000004\n"), std::string::npos) << whole;
  EXPECT_NE(hex(bind_message(0xDE60, 4295, Copied::length)).find("09000200\n00000004 02000000"), std::string::npos);
}

TEST(QueueMessage, Unbind) {
  EXPECT_EQ(hex(unbind_message(0xDE61)), "1c000000 02030500 01000000 00000000\n0000de61 08000100 02000000 ");
}

TEST(QueueMessage, AnInquiryChangesNothing) {
  EXPECT_EQ(hex(inquiry_message()), "1c000000 02030500 01000000 00000000\n00000000 08000100 03000000 ");
}

TEST(QueueMessage, VerdictsOfAllKindsInOneBuffer) {
  std::vector<std::byte> buffer;
  append_verdict(buffer, 0xDE60, {VerdictKind::accept_through, 0x01020304});
  append_verdict(buffer, 0xDE60, {VerdictKind::accept, 5});
  append_verdict(buffer, 0xDE60, {VerdictKind::drop, 6});
  EXPECT_EQ(hex(buffer),
            "20000000 03030100 00000000 00000000\n0000de60 0c000200 00000001 01020304\n"  // VERDICT_BATCH, NF_ACCEPT
            "20000000 01030100 00000000 00000000\n0000de60 0c000200 00000001 00000005\n"  // VERDICT
            "20000000 01030100 00000000 00000000\n0000de60 0c000200 00000000 00000006\n");
}

TEST(QueueMessage, AVerdictMayBringAnotherPacket) {
  const std::vector<std::byte> packet{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  std::vector<std::byte> buffer;
  append_verdict(buffer, 0xDE60, {VerdictKind::accept, 5}, packet);
  append_verdict(buffer, 0xDE60, {VerdictKind::accept, 6});
  EXPECT_EQ(hex(buffer),
            "2c000000 01030100 00000000 00000000\n0000de60 0c000200 00000001 00000005\n"
            "09000a00 01020304 05000000 20000000\n01030100 00000000 00000000 0000de60\n"
            "0c000200 00000001 00000006 ");
}

std::optional<QueuedPacket> parse(const std::vector<std::uint32_t>& words) {
  return parse_packet(*reinterpret_cast<const nlmsghdr*>(words.data()));
}

std::uint32_t big(std::uint32_t value) {
  return __builtin_bswap32(value);
}

TEST(QueueMessage, ReadsAPacketWithItsTimestamp) {
  const auto packet = parse({60, 0x00000300, 0, 0, big(0xDE60),          // NFQNL_MSG_PACKET
                             0x0001000b, big(77), 0x00020008,            // PACKET_HDR: id 77, IPv4, hook forward
                             0x00040014, 0, big(1000), 0, big(250'000),  // TIMESTAMP
                             0x000d0008, big(64'000)});                  // CAP_LEN
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->id, 77u);
  EXPECT_EQ(packet->bytes, 64'000u);
  ASSERT_TRUE(packet->stamp);
  EXPECT_EQ(*packet->stamp, 1000s + 250ms);
}

TEST(QueueMessage, APacketMayHaveNoTimestamp) {
  const auto packet = parse({32, 0x00000300, 0, 0, big(0xDE60), 0x0001000b, big(78), 0x00020008});
  ASSERT_TRUE(packet);
  EXPECT_FALSE(packet->stamp);
  EXPECT_FALSE(parse({20, 0x00000301, 0, 0, big(0xDE60)}));
  EXPECT_FALSE(parse({20, 0x00000300, 0, 0, big(0xDE60)}));  // no PACKET_HDR
  EXPECT_FALSE(parse({28, 0x00000300, 0, 0, big(0xDE60), 0x00010008, big(78)})) << "half of one";
}

TEST(QueueMessage, ATimestampThatNoClockShowsIsNone) {
  for (const auto& [high, microseconds] : {std::pair{0x10000U, 5U}, std::pair{0U, 1'000'000U}}) {
    const auto packet = parse({52, 0x00000300, 0, 0, big(0xDE60), 0x0001000b, big(77), 0x00020008,  //
                               0x00040014, big(high), big(1000), 0, big(microseconds)});
    ASSERT_TRUE(packet);
    EXPECT_FALSE(packet->stamp);
  }
}

TEST(KernelDrops, AreReadFromProc) {
  const std::string text =
      "    1   4711     0 2 65531     3     4        9  1\n56928  3281776884     0 1     0    10     2     2050  1\n";
  EXPECT_EQ(kernel_drops(text, 56928), 12u);
  EXPECT_EQ(kernel_drops(text, 1), 7u);
  EXPECT_EQ(kernel_drops(text, 2), 0u);
  EXPECT_EQ(kernel_drops("", 2), 0u);
}

std::vector<std::byte> udp_packet(std::uint16_t from, std::uint16_t to, bool six, std::uint8_t protocol = 17) {
  std::vector<std::byte> packet(six ? 44 : 24);
  packet[0] = std::byte{six ? std::uint8_t{0x60} : std::uint8_t{0x45}};
  packet[six ? 6 : 9] = std::byte{protocol};
  const std::size_t ports = six ? 40 : 20;
  for (const auto& [at, port] : {std::pair{ports, from}, std::pair{ports + 2, to}}) {
    packet[at] = std::byte{static_cast<std::uint8_t>(port >> 8)};
    packet[at + 1] = std::byte{static_cast<std::uint8_t>(port)};
  }
  return packet;
}

TEST(QueueMessage, KnowsDegensProbes) {
  for (const bool six : {false, true}) {
    EXPECT_TRUE(is_probe(flow_of(udp_packet(40000, 7473, six))));
    EXPECT_TRUE(is_probe(flow_of(udp_packet(7473, 40000, six))));
    EXPECT_FALSE(is_probe(flow_of(udp_packet(40000, 4791, six))));
    EXPECT_FALSE(is_probe(flow_of(udp_packet(40000, 7473, six, 6))));
    auto cut = udp_packet(40000, 7473, six);
    cut.resize(cut.size() - 1);
    EXPECT_FALSE(is_probe(flow_of(cut)));
  }
  auto fragment = udp_packet(40000, 7473, false);
  fragment[7] = std::byte{1};
  EXPECT_FALSE(is_probe(flow_of(fragment)));
  EXPECT_EQ(flow_of(fragment).protocol, 17) << "of its flow's protocol, but of no port";
  EXPECT_EQ(flow_of(fragment).to, 0);
  EXPECT_FALSE(is_probe(flow_of({})));
}

TEST(QueueMessage, KnowsWhoseFlowAPacketIs) {
  for (const bool six : {false, true}) {
    const auto key = flow_of(udp_packet(40000, 5201, six, 6));
    EXPECT_EQ(key.protocol, 6);
    EXPECT_EQ(key.from, 40000);
    EXPECT_EQ(key.to, 5201);
    EXPECT_EQ(flow_of(udp_packet(40000, 5201, six, 1)).from, 0) << "ICMP has no ports";
  }
}

}  // namespace
}  // namespace longhaul::degen
