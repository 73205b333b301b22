// Two labs, each with its router, share a campaign as two testbeds.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>

#include "results/store/store.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCampaign = R"(name: shared
workload: latency
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
axes: {delay: [0, 50ms]}
fixed: {duration: 300ms, completion: event, op: send}
repeat: {min: 2, max: 2}
)";

TEST(SeveralLabs, ShareACampaignByNamesOfTheirOwn) {
  const BootedLab east{"compact"};
  const BootedLab west{"compact", {"--prefix", "west-"}};
  const TemporaryDirectory directory;
  const auto campaign = (directory.path() / "shared.yaml").string(), out = (directory.path() / "out").string();
  write_file(campaign, kCampaign);
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"run", campaign, "--out", out, "--inventory", east.inventory(), "--inventory"};
    command.insert(command.end(), more.begin(), more.end());
    return longhaul(command);
  };
  const auto twice = run({east.inventory()});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("both have a node client"));

  // One router refuses everything, because somebody else's qdisc is in its way. The other makes every cell.
  EXPECT_EQ(west.must("west-client", "echo $LONGHAUL_NODE"), "west-client\n");
  west.must("west-router", "tc qdisc add dev rb0 root handle 77: tbf rate 1gbit burst 64k latency 50ms");
  const auto alone = run({west.inventory()});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("given up on this testbed after 3 attempts, others try it"));
  west.must("west-router", "tc qdisc del dev rb0 root");
  std::filesystem::remove_all(out);

  const auto shared = run({west.inventory()});
  ASSERT_EQ(shared.code, 0) << shared.err;
  const auto store = results::Store::open(out, results::OpenMode::read);
  ASSERT_TRUE(store);
  ASSERT_EQ(store->manifest()->testbeds().size(), 2U);
  std::set<std::string> routers;
  for (const auto& testbed : store->manifest()->testbeds())
    routers.insert(testbed.with_role(Role::router).front()->name);
  EXPECT_THAT(routers, ::testing::ElementsAre("router", "west-router"));
  std::map<std::string, int> runs;  // by the testbed that made them
  const auto made = store->runs();
  ASSERT_TRUE(made);
  for (const auto& record : *made)
    if (counts(record.status)) ++runs[record.facts.contains("west-client") ? "west" : "east"];
  EXPECT_EQ(runs["east"], 4);
  EXPECT_EQ(runs["west"], 4);
}

}  // namespace
}  // namespace longhaul::testing
