#include "orchestrator/run/links.hh"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/orchestrator/fake.hh"
#include "tests/orchestrator/fixture.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::HasSubstr;

std::vector<CampaignCell> cells(const std::string& fixed) {
  return *testing::cells_of(
      "name: n\nworkload: ping\nseries: [{transport: tcp, rival: siw}]\naxes: {delay: [0]}\nfixed: {" + fixed +
      "}\nrepeat: {min: 6}\n");
}

TEST(Links, SeveralClientsMeetOneServer) {
  testing::FakeTestbed world;
  world.add_client("client2", "10.12.0.1", "10.13.0.1");
  const auto two = cells("client_nodes: 2");
  EXPECT_EQ(most_clients(two), 2U);
  const auto links = links_of(world.testbed, two);
  ASSERT_TRUE(links) << links.error().message;
  const auto paths = paths_of(links->front());
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].client, "client");
  EXPECT_EQ(paths[1].client, "client2");
  EXPECT_EQ(paths[1].from.address, "10.13.0.1");
  EXPECT_EQ(paths[0].to.address, paths[1].to.address);
}

TEST(Links, ACellRunsBetweenThoseThatHaveItsDevice) {
  testing::FakeTestbed world;
  auto& nodes = world.testbed.nodes;
  for (const auto role : {Role::client, Role::server}) {
    auto old = *std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.role == role; });
    old.name += "-old";
    std::erase_if(old.attachments, [](const auto& attachment) { return attachment.provider == "siw"; });
    nodes.insert(nodes.begin(), old);
  }
  const auto links = links_of(world.testbed, cells("duration: 1s"));
  ASSERT_TRUE(links) << links.error().message;
  EXPECT_EQ(links->front().client, "client");
  EXPECT_EQ(links->front().server, "server");
}

TEST(Links, OneClientIsTheRule) {
  const testing::FakeTestbed world;
  const auto one = cells("duration: 1s");
  EXPECT_EQ(most_clients(one), 1U);
  EXPECT_EQ(paths_of(links_of(world.testbed, one)->front()).size(), 1U);
}

std::vector<CampaignCell> alone(const std::string& text) {
  return *testing::cells_of("name: n\n" + text + "\nrepeat: {min: 6}\n");
}

TEST(Links, WhatRunsAloneIsOnTheFirstClient) {
  testing::FakeTestbed world;
  world.add_client("client2", "10.12.0.1", "10.13.0.1");
  const auto card = links_of(world.testbed, alone("workload: card\nseries: [{transport: rdma, provider: siw}]"));
  ASSERT_TRUE(card) << card.error().message;
  EXPECT_TRUE(card->front().local());
  EXPECT_EQ(card->front().client, "client");
  EXPECT_EQ(card->front().from.device, "siw_a1");
  EXPECT_TRUE(paths_of(card->front()).empty());
  const auto solo = links_of(world.testbed, alone("workload: solo"));
  EXPECT_EQ(solo->front().client, "client");
  EXPECT_EQ(solo->front().from.address, "");
}

TEST(Links, WhatRunsAloneNeedsNeitherServerNorRouter) {
  testing::FakeTestbed world;
  std::erase_if(world.testbed.nodes, [](const Node& node) { return node.role != Role::client; });
  EXPECT_TRUE(links_of(world.testbed, alone("workload: solo")));
  EXPECT_FALSE(links_of(world.testbed, cells("duration: 1s")));
  const auto missing = links_of(world.testbed, alone("workload: card\nseries: [{transport: rdma, provider: mlx5}]"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("node client has no mlx5 device"));
}

TEST(Links, MissingClientsAreNamedWithTheRemedy) {
  const testing::FakeTestbed world;
  const auto links = links_of(world.testbed, cells("client_nodes: 3"));
  ASSERT_FALSE(links);
  EXPECT_THAT(links.error().message, HasSubstr("wants 3 client nodes, the testbed has 1 (a lab: --nodes 5)"));
}

}  // namespace
}  // namespace longhaul::orchestrator
