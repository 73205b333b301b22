#include "workloads/transport/address.hh"

#include <gmock/gmock.h>

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;

TEST(HostPort, OfABenchHasItsPort) {
  EXPECT_EQ(*parse_host_port("server"), (HostPort{"server", kDefaultPort}));
  EXPECT_FALSE(parse_host_port("server:0"));
}

TEST(Resolve, NumericAddressesOfBothFamilies) {
  EXPECT_EQ(resolve("127.0.0.1", 80)->text(), "127.0.0.1:80");
  EXPECT_EQ(resolve("::1", 80)->text(), "[::1]:80");
  EXPECT_FALSE(resolve("not a host name", 80));
}

TEST(Netdev, OfTheLoopbackAddress) {
  EXPECT_EQ(netdev_of(*resolve("127.0.0.1", 0)), "lo");
  EXPECT_EQ(netdev_of(*resolve("203.0.113.77", 0)), "");
  EXPECT_EQ(address_of_netdev("lo")->host(), "127.0.0.1");
  EXPECT_THAT(address_of_netdev("nothing0").error().message, HasSubstr("lo"));
  EXPECT_GT(link_facts("lo").mtu, 0);
  EXPECT_EQ(link_facts("nothing0").mtu, 0);
}

}  // namespace
}  // namespace longhaul::workloads
