// Which interfaces stand on the other side of one.
#include "degen/engines/tc/links.hh"

#include <gmock/gmock.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "degen/engines/tc/message_builder.hh"
#include "tests/degen/hex.hh"

namespace longhaul::degen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<NetworkLink> router() {
  return {{.index = 1, .name = "lo", .up = true, .loopback = true},
          {.index = 2, .name = "wan", .up = true},
          {.index = 3, .name = "lan", .up = true},
          {.index = 4, .name = "dmz", .up = true},
          {.index = 5, .name = "off", .up = false},
          {.index = 6, .name = "br0", .up = true},
          {.index = 7, .name = "p1", .up = true, .master = 6, .port_kind = "bridge"},
          {.index = 8, .name = "p2", .up = true, .master = 6, .port_kind = "bridge"},
          {.index = 9, .name = "p3", .up = true, .master = 6, .port_kind = "bridge"}};
}

TEST(NetworkLinks, OfARouterAllOthersThatAreUpAndNoPorts) {
  EXPECT_THAT(others_of("wan", router()).value(), ElementsAre("lan", "dmz", "br0"));
}

TEST(NetworkLinks, OfABridgesPortTheOtherPorts) {
  EXPECT_THAT(others_of("p2", router()).value(), ElementsAre("p1", "p3"));
}

TEST(NetworkLinks, RefusesWhatWouldBeImpairedTwiceOrNotAtAll) {
  auto links = router();
  links.push_back({.index = 10, .name = "lan.7", .up = true, .below = 3});
  EXPECT_THAT(others_of("wan", links).error().message, HasSubstr("lan.7 lies on lan"));
  EXPECT_THAT(others_of("lan.7", links).error().message, HasSubstr("lan.7 lies on lan"));
  EXPECT_TRUE(others_of("p1", links));  // none of the bridge's ports
  EXPECT_THAT(others_of("eth9", links).error().message, HasSubstr("eth9: there is no such network interface"));
  const std::vector<NetworkLink> host{{.index = 1, .name = "lo", .up = true, .loopback = true},
                                      {.index = 2, .name = "eth0", .up = true}};
  EXPECT_THAT(others_of("eth0", host).error().message, HasSubstr("nothing is forwarded here"));
}

std::optional<NetworkLink> parsed(const std::string& kind, bool elsewhere, int type = RTM_NEWLINK) {
  MessageBuilder message{type, 0};
  ifinfomsg header{};
  header.ifi_index = 9;
  header.ifi_flags = IFF_UP;
  message.append(header);
  message.put(IFLA_IFNAME, std::string{"x9"});
  message.put(IFLA_MASTER, std::uint32_t{6});
  message.put(IFLA_LINK, std::uint32_t{3});
  if (elsewhere) message.put(IFLA_LINK_NETNSID, std::uint32_t{0});
  auto* info = message.open(IFLA_LINKINFO);
  message.put(IFLA_INFO_KIND, kind);
  message.put(IFLA_INFO_SLAVE_KIND, std::string{"bridge"});
  message.close(info);
  const auto bytes = message.bytes();
  return parse_link(*reinterpret_cast<const nlmsghdr*>(bytes.data()));
}

TEST(NetworkLinks, AreReadFromTheKernelsMessages) {
  const auto vlan = parsed("vlan", false).value();
  EXPECT_EQ(vlan.index, 9);
  EXPECT_EQ(vlan.name, "x9");
  EXPECT_TRUE(vlan.up);
  EXPECT_FALSE(vlan.loopback);
  EXPECT_EQ(vlan.master, 6);
  EXPECT_EQ(vlan.below, 3);
  EXPECT_EQ(vlan.port_kind, "bridge");
  // A veth's peer lies beside it, and an index of another namespace is none of ours.
  EXPECT_EQ(parsed("veth", false)->below, 0);
  EXPECT_EQ(parsed("macvlan", true)->below, 0);
  EXPECT_FALSE(parsed("vlan", false, RTM_NEWQDISC));
  const auto here = network_links();
  EXPECT_TRUE(std::any_of(here.begin(), here.end(), [](const auto& link) { return link.loopback; }));
}

TEST(NetworkLinks, AreAskedForByADump) {
  EXPECT_EQ(test::hex(dump_links_message()).substr(0, 35), "20000000 12000003 00000000 00000000");
}

}  // namespace
}  // namespace longhaul::degen
