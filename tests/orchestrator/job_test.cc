// The nodes of a running Slurm job as a testbed: real agents, started by a real srun, over sockets.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "results/store/store.hh"
#include "tests/free_port.hh"
#include "tests/slurm_cluster.hh"

namespace longhaul::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string campaign(const char* duration, int runs) {
  return fmt::format(
      "name: job\nworkload: latency\nseries: [{{transport: tcp}}]\nfixed: {{path: lan, size: 1KiB, duration: {}}}\n"
      "repeat: {{min: {}, max: {}}}\n",
      duration, runs, runs);
}

class JobOfSlurm : public SlurmTest {
 protected:
  static void SetUpTestSuite() {
    SlurmTest::SetUpTestSuite();
    if (!cluster_) return;
    write_file(path("job.yaml"), campaign("200ms", 2));
    write_file(path("long.yaml"), campaign("2s", 100));
  }

  /// A job without a task of its own; it goes with its owner.
  class Job {
   public:
    explicit Job(std::vector<std::string> options) {
      options.insert(options.begin(), {"salloc", "--no-shell", "--quiet"});
      options.insert(options.end(), {"--job-name", "longhaul-test"});
      const auto got = run_program(options);
      if (got.code != 0) throw std::runtime_error("salloc: " + got.err);
      const auto said =
          run_program({"squeue", "-h", "--name", "longhaul-test", "-t", "RUNNING", "-S", "-i", "-o", "%A"});
      number = said.out.substr(0, said.out.find('\n'));
    }
    ~Job() { cancel(); }
    void cancel() const {
      run_program({"scancel", number});
      holds_within(20s, [&] { return run_program({"squeue", "-h", "-j", number}).out.empty(); });
    }
    std::string inventory() const { return "slurm:" + number; }
    std::string number;
  };

  static Outcome run(const std::string& inventory, const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"run", path("job.yaml"), "--inventory", inventory, "--out", path(out)};
    all.insert(all.end(), more.begin(), more.end());
    return longhaul(all);
  }
  /// Nothing that was started on a node is left.
  static bool all_is_gone() {
    return holds_within(20s, [] {
      for (int node = 1; node <= 4; ++node)
        if (!SlurmCluster::processes_of(node).empty()) return false;
      return true;
    });
  }
};

TEST_F(JobOfSlurm, ItsNodesAreATestbed) {
  const Job job{{"-N", "3"}};
  const auto made = run(job.inventory(), "out");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("job " + job.number + ": starting agents on 3 nodes"));
  EXPECT_TRUE(all_is_gone());
  const auto store = results::Store::open(path("out"), results::OpenMode::read);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->index()->size(), 2U);
  const auto testbed = store->manifest()->testbed;
  ASSERT_EQ(testbed.nodes.size(), 3U);
  EXPECT_EQ(testbed.with_role(Role::server).front()->name, "n3");
  EXPECT_EQ(testbed.with_role(Role::client).size(), 2U);
  for (const auto& node : testbed.nodes) {
    ASSERT_EQ(node.attachments.size(), 1U);
    EXPECT_NE(node.attachments.front().address, "");
  }
  const auto healthy = longhaul({"doctor", "--inventory", job.inventory(), "--json"});
  EXPECT_THAT(healthy.out, HasSubstr("\"came\"")) << healthy.err;
  EXPECT_TRUE(all_is_gone());
}

// Roles and interfaces are the inventory's; its router is none of the job's, and has the site's credentials.
TEST_F(JobOfSlurm, AnInventorySaysWhatItsNodesAreFor) {
  const Job job{{"-N", "2", "-w", "n1,n2"}};
  const auto inventory = [&](const std::string& name, const std::string& text) {
    write_file(path(name), "all:\n  children:\n" + text);
    return job.inventory() + ":" + path(name);
  };
  const std::string attached = "{longhaul_attachments: [{path: lan, netdev: lo, address: 127.0.0.1}]}";
  const auto turned = inventory(
      "turned.yml", "    clients: {hosts: {n2: " + attached + "}}\n    servers: {hosts: {n1: " + attached + "}}\n");
  const auto made = run(turned, "turned");
  ASSERT_EQ(made.code, 0) << made.err;
  const auto store = results::Store::open(path("turned"), results::OpenMode::read);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->manifest()->testbed.with_role(Role::server).front()->name, "n1");

  ASSERT_EQ(longhaul({"pki", "init", "--dir", path("pki")}).code, 0);
  ASSERT_EQ(longhaul({"pki", "issue", "--dir", path("pki"), "agent", "r1"}).code, 0);
  ASSERT_EQ(longhaul({"pki", "issue", "--dir", path("pki"), "controller", "me"}).code, 0);
  const auto port = std::to_string(free_port());
  const Child router{
      {.arguments = {bin("longhaul-agent"), "--node", "r1", "--listen", "127.0.0.1:" + port, "--ca", path("pki/ca.pem"),
                     "--cert", path("pki/agent-r1.pem"), "--key", path("pki/agent-r1.key")}}};
  const std::string ends =
      "    clients: {hosts: {n1: " + attached + "}}\n    servers: {hosts: {n2: " + attached + "}}\n";
  const std::string router_text = "    routers: {hosts: {r1: {ansible_host: 127.0.0.1, longhaul_port: " + port +
                                  ", longhaul_links: [{client_side: lo, server_side: lo}]}}}\n";
  const auto nameless = run(inventory("nameless.yml", ends + router_text), "no");
  EXPECT_EQ(nameless.code, 2);
  EXPECT_THAT(nameless.err, AllOf(HasSubstr("host r1 is no node of the job (n1, n2)"), HasSubstr("longhaul_cert")));
  const auto with_router = inventory("router.yml", ends + router_text +
                                                       "  vars: {longhaul_ca: pki/ca.pem, longhaul_cert: "
                                                       "pki/controller-me.pem, longhaul_key: pki/controller-me.key}\n");
  const auto examined = longhaul({"doctor", "--inventory", with_router});
  EXPECT_THAT(examined.out,
              AllOf(HasSubstr("r1 (router at 127.0.0.1:" + port + "): "), HasSubstr("n1 (client at 127.0.0.1:")))
      << examined.err;
  EXPECT_THAT(examined.out, Not(HasSubstr("): does not answer")));
  EXPECT_TRUE(all_is_gone());
}

// A job that is over: what is made is kept, Slurm's word says why, and another job on the same nodes goes on.
TEST_F(JobOfSlurm, ThatEndsIsGoneOnWithInAnother) {
  const auto made = [] {
    const auto store = results::Store::open(path("over"), results::OpenMode::read);
    return store ? store->index()->size() : 0;
  };
  const auto begin = [](const Job& job, const char* log, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"run", path("long.yaml"), "--inventory", job.inventory(), "--out", path("over")};
    all.insert(all.end(), more.begin(), more.end());
    return start_longhaul(all, path(log));
  };
  std::size_t before = 0;
  {
    const Job job{{"-N", "2", "-w", "n1,n2", "-t", "2"}};
    auto process = begin(job, "over.log");
    ASSERT_TRUE(holds_within(60s, [&] { return made() >= 1 || !process.running(); }));
    job.cancel();
    const auto end = process.wait(60s);
    ASSERT_TRUE(end);
    const auto said = read_file(path("over.log"));
    EXPECT_EQ(end->code, 1) << said;
    EXPECT_THAT(said, AllOf(HasSubstr("slurm:" + job.number + " ends in "), HasSubstr("the campaign takes about ")));
    EXPECT_THAT(said, HasSubstr("(job " + job.number + " has ended: CANCELLED, "));
    EXPECT_THAT(said, HasSubstr("--resume goes on in another job on the same nodes)"));
    EXPECT_TRUE(all_is_gone());
    before = made();
    ASSERT_GE(before, 1U) << said;
  }
  const Job other{{"-N", "2", "-w", "n1,n2"}};
  auto process = begin(other, "on.log", {"--resume"});
  ASSERT_TRUE(holds_within(60s, [&] { return made() > before || !process.running(); }));
  EXPECT_GT(made(), before) << read_file(path("on.log"));
  process.send_signal(SIGTERM);
  const auto end = process.wait(30s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 130) << read_file(path("on.log"));
  EXPECT_TRUE(all_is_gone()) << "after Ctrl-C";
}

TEST_F(JobOfSlurm, AnAgentThatDiesIsStartedAgain) {
  const Job job{{"-N", "2", "-w", "n1,n2"}};
  write_file(path("some.yaml"), campaign("1s", 5));
  auto process = start_longhaul({"run", path("some.yaml"), "--inventory", job.inventory(), "--out", path("some")},
                                path("some.log"));
  const auto made = [] {
    const auto store = results::Store::open(path("some"), results::OpenMode::read);
    return store ? store->index()->size() : 0;
  };
  ASSERT_TRUE(holds_within(60s, [&] { return made() >= 1 || !process.running(); }));
  int killed = 0;
  for (const auto pid : SlurmCluster::processes_of(2))
    if (read_file(fmt::format("/proc/{}/comm", pid)) == "longhaul-agent\n") killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
  EXPECT_EQ(killed, 1);
  const auto end = process.wait(120s);
  ASSERT_TRUE(end);
  const auto said = read_file(path("some.log"));
  EXPECT_EQ(end->code, 0) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("agents are started anew: "), HasSubstr("the agent of node n2 has ended")));
  const auto store = results::Store::open(path("some"), results::OpenMode::read);
  ASSERT_TRUE(store);
  const auto index = *store->index();
  EXPECT_EQ(std::count_if(index.begin(), index.end(), [](const auto& run) { return run.status == Status::ok; }), 5);
  EXPECT_TRUE(all_is_gone());
}

TEST_F(JobOfSlurm, AKilledLonghaulLeavesNothing) {
  const Job job{{"-N", "2"}};
  auto process = start_longhaul({"run", path("long.yaml"), "--inventory", job.inventory(), "--out", path("killed")},
                                path("killed.log"));
  ASSERT_TRUE(holds_within(60s, [] { return !SlurmCluster::processes_of(1).empty(); }));
  process.send_signal(SIGKILL);
  process.wait(10s);
  EXPECT_TRUE(all_is_gone());
}

TEST_F(JobOfSlurm, WhatIsNoTestbedIsRefusedWithARemedy) {
  const auto refused = [](const std::string& inventory, const char* why) {
    const auto made = run(inventory, "no");
    EXPECT_EQ(made.code, 2) << made.err;
    EXPECT_THAT(made.err, HasSubstr(why));
  };
  refused("slurm:all", "expected slurm:JOB or slurm:JOB:FILE with a job's number");
  refused("slurm:4711", "`squeue --me` shows yours");
  const Job one{{"-N", "1"}};
  refused(one.inventory(), "get two nodes");
  const Job two{{"-N", "2"}};
  write_file(path("strange.yml"), R"(all:
  children:
    clients: {hosts: {a: {ansible_host: 127.0.0.1, longhaul_port: 1}}}
    servers: {hosts: {b: {ansible_host: 127.0.0.1, longhaul_port: 2}}}
  vars: {longhaul_ca: ca.pem, longhaul_cert: c.pem, longhaul_key: c.key}
)");
  refused(two.inventory() + ":" + path("strange.yml"), "none of its hosts is a node of the job");
  refused(two.inventory() + ":" + path("none.yml"), "No such file");
  const auto waiting = run_program({"sbatch", "--parsable", "-N", "4", "--wrap", "true"});
  refused("slurm:" + waiting.out.substr(0, waiting.out.find('\n')), "does not run yet (PENDING, ");
  run_program({"scancel", waiting.out.substr(0, waiting.out.find('\n'))});
  EXPECT_TRUE(all_is_gone());
}

}  // namespace
}  // namespace longhaul::testing
