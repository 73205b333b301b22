// A job's nodes as a testbed: what Slurm says, and what the agents' facts make of it.
#include "orchestrator/slurm/allocation.hh"

#include <gmock/gmock.h>

#include "tests/some.hh"

namespace longhaul::orchestrator::slurm {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JobInventory, IsAJobAndPerhapsAFile) {
  EXPECT_FALSE(is_job_inventory("cluster.yml"));
  EXPECT_TRUE(is_job_inventory("slurm:17"));
  EXPECT_EQ(parse_job_inventory("slurm:17")->job, "17");
  EXPECT_EQ(parse_job_inventory("slurm:17")->file, "");
  EXPECT_EQ(parse_job_inventory("slurm:17_3:a:b.yml")->job, "17_3");
  EXPECT_EQ(parse_job_inventory("slurm:17_3:a:b.yml")->file, "a:b.yml");
  for (const char* wrong : {"slurm:", "slurm:x", "slurm:17_", "slurm:_3", "slurm:17 ", "slurm:-1:f", "slurm::f",
                            "slurm:17_3_4", "slurm:12345678901234567890", "slurm:--help"})
    EXPECT_THAT(parse_job_inventory(wrong).error().message, HasSubstr("expected slurm:JOB or slurm:JOB:FILE")) << wrong;
}

TEST(Allocation, IsWhatSqueueSays) {
  const auto one = parse_allocation("17", "17|RUNNING|1-02:03:04|None|n[1-4]\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->job, 17U);
  EXPECT_EQ(one->left, 26h + 3min + 4s);
  EXPECT_EQ(one->nodes, "n[1-4]");
  EXPECT_TRUE(check_running(*one));
  EXPECT_EQ(parse_allocation("17", "17|RUNNING|2:00|None|n1")->left, 2min);
  EXPECT_EQ(parse_allocation("17", "17|RUNNING|1:02:00|None|n1")->left, 62min);
  for (const char* none : {"UNLIMITED", "INVALID", "NOT_SET", "", "7", "1:2:3:4", "a:b"})
    EXPECT_FALSE(parse_allocation("17", fmt::format("17|RUNNING|{}|None|n1", none))->left) << none;
}

TEST(Allocation, ThatDoesNotRunIsRefusedWithWhatToDo) {
  const auto error = [](const char* said) { return check_running(*parse_allocation("17", said)).error().message; };
  EXPECT_THAT(error("17|PENDING|1:00|Resources|"),
              AllOf(HasSubstr("Resources"), HasSubstr("`squeue -j 17` says RUNNING")));
  EXPECT_THAT(error("17|TIMEOUT|0:00|TimeLimit|n1"), AllOf(HasSubstr("TIMEOUT, TimeLimit"), HasSubstr("salloc -N 2")));
  EXPECT_THAT(parse_allocation("17", "").error().message, HasSubstr("`squeue --me` shows yours"));
  EXPECT_THAT(parse_allocation("17", "18|RUNNING|1:00|None|n1\n19|RUNNING|1:00|None|n2\n").error().message,
              HasSubstr("slurm:17_1"));
  const auto said = [](const char* words) { return unknown_job("17", words).value(); };
  EXPECT_EQ(said("slurm_load_jobs error: Invalid job id specified\n").exit_code, ExitCode::usage);
  EXPECT_THAT(said("error: Munge decode failed").message, HasSubstr("check that munged runs"));
  EXPECT_THAT(said("Unable to contact slurm controller\n(connect failure)").message,
              AllOf(HasSubstr("controller (connect failure)"), HasSubstr("check that slurmctld runs")));
}

TEST(Nodes, AreReachedAtTheirAddresses) {
  EXPECT_THAT(parse_nodes("NodeName=n1 Arch=x86_64 NodeAddr=10.0.0.1 NodeHostName=h State=IDLE\n"
                          "NodeName=n2 Arch=x86_64 State=IDLE\nnonsense\n"),
              ElementsAre(JobNode{"n1", "10.0.0.1"}, JobNode{"n2", "n2"}));
  EXPECT_THAT(parse_nodes(""), IsEmpty());
  EXPECT_THAT(check_enough({{"n1", "n1"}}).error().message, HasSubstr("get two nodes"));
  EXPECT_TRUE(check_enough({{"n1", "n1"}, {"n2", "n2"}}));
}

TEST(Nodes, GetAnAgentEach) {
  const auto command = agent_command(17, "n2", "/opt/longhaul-agent");
  EXPECT_THAT(command, ::testing::IsSupersetOf({"srun", "--jobid=17", "--nodelist=n2", "--overlap", "--ntasks=1"}));
  const std::vector<std::string> end(command.end() - 4, command.end());
  EXPECT_THAT(end, ElementsAre("/opt/longhaul-agent", "--enrol", "--node", "n2"));
}

NicFacts nic(const std::string& name, const std::vector<std::string>& addresses) {
  NicFacts facts;
  facts.name = name;
  facts.addresses = addresses;
  return facts;
}

RdmaFacts device(const std::string& name, const std::string& provider, const std::string& netdev) {
  RdmaFacts facts;
  facts.name = name;
  facts.provider = provider;
  facts.netdev = netdev;
  return facts;
}

const std::vector<JobNode> kThree{{"n1", "a1"}, {"n2", "a2"}, {"n3", "a3"}};

// A site's management network comes first, RDMA is on another; one node has its names in another order, and a device
// more.
std::map<std::string, NodeFacts> three() {
  std::map<std::string, NodeFacts> facts;
  for (int i = 1; i <= 3; ++i) {
    auto& one = facts[fmt::format("n{}", i)];
    one.nics = {nic("eth0", {fmt::format("192.0.2.{}/24", i), fmt::format("fe80::{}/64", i)}),
                nic("ib0", {fmt::format("10.1.{}.7/16", i)})};
    one.rdma = {device("mlx5_0", "mlx5", "ib0"), device("rxe0", "rxe", "eth0")};
  }
  std::swap(facts["n2"].nics[0], facts["n2"].nics[1]);
  facts["n3"].rdma.push_back(device("siw0", "siw", "eth0"));
  return facts;
}

TEST(Testbed, HasEachProviderOfAllNodes) {
  const auto testbed = testbed_of(kThree, three());
  ASSERT_TRUE(testbed) << testbed.error().message;
  ASSERT_EQ(testbed->nodes.size(), 3U);
  EXPECT_EQ(testbed->nodes[0].role, Role::client);
  EXPECT_EQ(testbed->nodes[1].role, Role::client);
  EXPECT_EQ(testbed->nodes[2].role, Role::server);
  EXPECT_EQ(testbed->nodes[1].host, "a2");
  EXPECT_EQ(testbed->topology, "cluster");
  for (const auto& node : some(testbed->nodes)) {
    ASSERT_EQ(node.attachments.size(), 2U) << "siw is n3's alone";
    const auto number = node.name.back();
    const auto mlx5 = find_attachment(node, "lan", "mlx5");
    ASSERT_TRUE(mlx5);
    EXPECT_EQ(mlx5->device, "mlx5_0");
    EXPECT_EQ(mlx5->netdev, "ib0");
    EXPECT_EQ(mlx5->address, fmt::format("10.1.{}.7", number));
    EXPECT_EQ(find_attachment(node, "lan", "rxe")->address, fmt::format("192.0.2.{}", number));
  }
}

TEST(Testbed, WithoutRdmaHasSocketsOnACommonNetwork) {
  auto facts = three();
  for (auto& [name, one] : facts) one.rdma.clear();
  facts["n3"].nics.erase(facts["n3"].nics.begin());
  const auto testbed = testbed_of(kThree, facts);
  ASSERT_TRUE(testbed) << testbed.error().message;
  for (const auto& node : some(testbed->nodes)) {
    ASSERT_EQ(node.attachments.size(), 1U);
    EXPECT_EQ(node.attachments.front().netdev, "ib0");
    EXPECT_EQ(node.attachments.front().provider, "");
  }
  // Link-local addresses are the same network everywhere, and none.
  for (auto& [name, one] : facts) one.nics = {nic("eth0", {"fe80::1/64", "nonsense"})};
  EXPECT_THAT(testbed_of(kThree, facts).error().message,
              AllOf(HasSubstr("n1 to n3 have no network in common"), HasSubstr("slurm:JOB:FILE")));
}

TEST(Testbed, OfAnInventoryKeepsItsRolesAndForeignNodes) {
  Testbed inventory;
  inventory.nodes = {{.name = "n2", .role = Role::client, .host = "elsewhere", .port = 7},
                     {.name = "n1", .role = Role::server},
                     {.name = "r", .role = Role::router, .host = "router", .port = 7471}};
  const auto error = [&] { return testbed_of("f.yml", inventory, kThree).error().message; };
  EXPECT_THAT(error(), AllOf(HasSubstr("f.yml: host r is no node of the job (n1, n2, n3)"), HasSubstr("longhaul_key")));
  inventory.ca = inventory.cert = inventory.key = "x";
  const auto testbed = testbed_of("f.yml", inventory, kThree);
  ASSERT_TRUE(testbed) << testbed.error().message;
  EXPECT_EQ(testbed->find("n2")->host, "a2");
  EXPECT_EQ(testbed->find("n2")->port, 0);
  EXPECT_EQ(testbed->find("n1")->role, Role::server);
  EXPECT_EQ(testbed->find("r")->host, "router");
  inventory.nodes[2].port = 0;
  EXPECT_THAT(error(), HasSubstr("needs ansible_host and longhaul_port of its own agent"));
  inventory.nodes = {{.name = "r", .role = Role::router, .host = "router", .port = 7471}};
  EXPECT_THAT(error(), HasSubstr("none of its hosts is a node of the job: n1, n2, n3"));
}

}  // namespace
}  // namespace longhaul::orchestrator::slurm
