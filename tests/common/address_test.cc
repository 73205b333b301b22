#include "common/address.hh"

#include <gmock/gmock.h>

namespace longhaul {
namespace {

using testing::HasSubstr;

TEST(HostPort, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*parse_host_port("server", 7), (HostPort{"server", 7}));
  EXPECT_EQ(*parse_host_port("10.0.0.1:80", 7), (HostPort{"10.0.0.1", 80}));
  EXPECT_EQ(*parse_host_port("fe80::1", 7), (HostPort{"fe80::1", 7}));
  EXPECT_EQ(*parse_host_port("[fe80::1]:80", {}), (HostPort{"fe80::1", 80}));
  EXPECT_EQ(*parse_host_port("[::1]", 7), (HostPort{"::1", 7}));
  EXPECT_EQ(*parse_host_port("0.0.0.0:0", {}, 0), (HostPort{"0.0.0.0", 0}));
}

TEST(HostPort, RefusesTheRest) {
  for (const auto* text : {"", ":80", "host:", "host:0", "host:70000", "host:80x", "[::1", "[::1]80", "[]:1"})
    EXPECT_FALSE(parse_host_port(text, 7)) << text;
  EXPECT_THAT(parse_host_port("host:eighty", 7).error().message, HasSubstr("1 to 65535"));
  for (const auto* text : {"host", "[::1]", "::1"})
    EXPECT_THAT(parse_host_port(text, {}).error().message, HasSubstr("the port is missing"));
}

TEST(HostPort, IsReadAsItIsWritten) {
  for (const HostPort& at : {HostPort{"10.0.0.1", 80}, HostPort{"::1", 65535}, HostPort{"server", 1}})
    EXPECT_EQ(*parse_host_port(to_text(at), {}), at);
}

TEST(SocketAddress, IsReadFromNumbersOnly) {
  auto address = *parse_address("10.0.0.1", 80);
  EXPECT_EQ(address.family(), AF_INET);
  EXPECT_EQ(address.length, 16U);
  EXPECT_EQ(address.text(), "10.0.0.1:80");
  address.set_port(81);
  EXPECT_EQ(address.port(), 81);
  EXPECT_EQ(address.host(), "10.0.0.1");
  EXPECT_EQ(parse_address("::1", 80)->text(), "[::1]:80");
  EXPECT_EQ(parse_address("fe80::1%lo", 80)->text(), "[fe80::1]:80");
  for (const auto* text : {"", "localhost", "10.0.0", "10.0.0.256", "::g", "10.0.0.1:80"})
    EXPECT_THAT(parse_address(text, 80).error().message, HasSubstr("numeric")) << text;
}

}  // namespace
}  // namespace longhaul
