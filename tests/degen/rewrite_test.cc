#include "degen/engines/nfqueue/rewrite.hh"

#include <gmock/gmock.h>

#include <bit>
#include <set>
#include <vector>

namespace longhaul::degen {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const auto value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

// Of an IPv4 header's words, as RFC 1071 adds them: 0xffff where its checksum is right.
unsigned sum(const std::vector<std::byte>& header) {
  unsigned total = 0;
  for (std::size_t i = 0; i < 20; i += 2)
    total += std::to_integer<unsigned>(header[i]) << 8 | std::to_integer<unsigned>(header[i + 1]);
  while (total > 0xffff) total = (total & 0xffff) + (total >> 16);
  return total;
}

// With this ECN field and such an identification, by which the checksum is any number.
std::vector<std::byte> ipv4(unsigned ecn, unsigned id) {
  auto packet = bytes({0x45, ecn, 0, 24, id >> 8, id & 0xff, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4});
  const auto checksum = ~sum(packet) & 0xffff;
  packet[10] = static_cast<std::byte>(checksum >> 8);
  packet[11] = static_cast<std::byte>(checksum & 0xff);
  return packet;
}

std::vector<std::byte> ipv6(unsigned ecn) {
  auto packet = bytes({0x6a, 0xb5U & 0xcfU, 0xcc, 0xdd});  // traffic class and flow label, all else than 0
  packet[1] |= static_cast<std::byte>(ecn << 4);
  packet.resize(48);
  return packet;
}

TEST(Rewrite, KnowsWhoseSendersKnowMarks) {
  for (const unsigned ecn : {0, 1, 2, 3}) {
    EXPECT_EQ(ecn_capable(ipv4(ecn, 1)), ecn != 0);
    EXPECT_EQ(ecn_capable(ipv4(0xb8 | ecn, 1)), ecn != 0);  // beside a DSCP
    EXPECT_EQ(ecn_capable(ipv6(ecn)), ecn != 0);
  }
  EXPECT_FALSE(ecn_capable({}));
  EXPECT_FALSE(ecn_capable(bytes({0x45, 0x02})));                          // cut
  EXPECT_FALSE(ecn_capable(std::vector<std::byte>(60, std::byte{0x03})));  // neither
}

TEST(Rewrite, AMarkLeavesTheChecksumRight) {
  for (const unsigned ecn : {1, 2, 3}) {
    for (unsigned id = 0; id < 0x10000; id += 7) {
      auto packet = ipv4(0xb8 | ecn, id);
      rewrite(packet, {.mark = true, .flip = {}});
      ASSERT_EQ(packet[1], std::byte{0xbb});
      ASSERT_EQ(sum(packet), 0xffffu) << id;
    }
  }
  const auto before = ipv4(3, 7);
  auto marked = before;
  rewrite(marked, {.mark = true, .flip = {}});
  EXPECT_EQ(marked, before);  // it was marked already
}

TEST(Rewrite, Ipv6HasNoChecksumAndKeepsItsFlowLabel) {
  auto packet = ipv6(2);
  auto expected = ipv6(3);
  rewrite(packet, {.mark = true, .flip = {}});
  EXPECT_EQ(packet, expected);
}

TEST(Rewrite, OneBitIsFlippedAnywhere) {
  const auto before = ipv4(0, 1);
  std::set<std::size_t> places;
  for (std::uint64_t draw = 0; draw < 24 * 8; ++draw) {
    auto packet = before;
    rewrite(packet, {.mark = false, .flip = draw + 24 * 8 * 1'000'003});
    std::size_t place = 0;
    int flipped = 0;
    for (std::size_t i = 0; i < packet.size(); ++i) {
      const auto difference = std::to_integer<unsigned>(packet[i] ^ before[i]);
      flipped += std::popcount(difference);
      if (difference != 0) place = 8 * i + static_cast<std::size_t>(std::countr_zero(difference));
    }
    ASSERT_EQ(flipped, 1);
    places.insert(place);
  }
  EXPECT_EQ(places.size(), 24u * 8);
}

TEST(Rewrite, NothingIsNothing) {
  EXPECT_FALSE(Rewrite{}.any());
  auto packet = ipv4(2, 1);
  rewrite(packet, {});
  EXPECT_EQ(packet, ipv4(2, 1));
  std::vector<std::byte> empty;
  rewrite(empty, {.mark = false, .flip = 5});
}

}  // namespace
}  // namespace longhaul::degen
