#include "model/testbed.hh"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

constexpr const char* kInventory =
    R"({"all":{"vars":{"longhaul_topology":"compact","longhaul_emulated":true},"children":{
  "clients":{"hosts":{"client":{"ansible_host":"127.0.0.1","longhaul_port":41001,"longhaul_attachments":[
    {"path":"wan","netdev":"a0","address":"10.10.0.1","device":"rxe_a0","provider":"rxe"},
    {"path":"wan","netdev":"a1","address":"10.11.0.1","device":"siw_a1","provider":"siw"}]}}},
  "servers":{"hosts":{"server":{"ansible_host":"127.0.0.1","longhaul_port":41002,"longhaul_attachments":[]}}},
  "routers":{"hosts":{"router":{"ansible_host":"127.0.0.1","longhaul_port":41003,"longhaul_links":[
    {"client_side":"ra0","server_side":"rb0"}]}}}}}})";

TEST(Testbed, ReadsAnInventory) {
  const auto testbed = testbed_from_inventory(kInventory);
  ASSERT_TRUE(testbed) << testbed.error().message;
  EXPECT_EQ(testbed->topology, "compact");
  EXPECT_TRUE(testbed->emulated);
  ASSERT_EQ(testbed->nodes.size(), 3U);
  EXPECT_EQ(testbed->with_role(Role::router).at(0)->links.at(0).server_side, "rb0");
  const auto attachment = find_attachment(*testbed->find("client"), "wan", "siw");
  ASSERT_TRUE(attachment);
  EXPECT_EQ(attachment->netdev, "a1");
}

TEST(Testbed, OthersInTheInventoryAreNotAskedForWhatNodesHave) {
  const auto testbed = testbed_from_inventory(
      R"({"all":{"children":{"controllers":{"hosts":{"localhost":{"ansible_connection":"local"},"other":null}},
      "clients":{"hosts":{"c":{"ansible_host":"h","longhaul_port":1,"longhaul_attachments":[
        {"path":"wan","netdev":"e0","address":"10.0.0.1","gateway":"10.0.0.2"}]}}},
      "servers":{"hosts":{"s":{"ansible_host":"h","longhaul_port":2}}}}}})");
  ASSERT_TRUE(testbed) << testbed.error().message;
  ASSERT_EQ(testbed->nodes.size(), 2U);
  EXPECT_EQ(testbed->nodes[0].attachments[0].netdev, "e0");  // for sockets alone
  EXPECT_EQ(testbed->nodes[0].attachments[0].device, "");
}

TEST(Testbed, AMissingProviderListsWhatThereIs) {
  const auto testbed = testbed_from_inventory(kInventory);
  const auto refused = find_attachment(*testbed->find("client"), "wan", "mlx5");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "node client has no mlx5 device on path wan; it has: rxe on a0 (wan), siw on a1 (wan)");
}

TEST(Testbed, RefusesWhatIsMissingOrTwice) {
  EXPECT_FALSE(testbed_from_inventory(R"({"all":{"children":{}}})"));
  const auto twice = testbed_from_inventory(
      R"({"all":{"children":{"clients":{"hosts":{"x":{"ansible_host":"h","longhaul_port":1}}},"servers":{"hosts":{"x":{"ansible_host":"h","longhaul_port":2}}}}}})");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "inventory: host x is in two groups");
  const auto wrong = testbed_from_inventory(
      R"({"all":{"children":{"clients":{"hosts":{"x":{"ansible_host":"h","longhaul_port":70000}}}}}})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "all.children.clients.hosts.x.longhaul_port: expected an integer in range, got 70000");
}

}  // namespace
}  // namespace longhaul
