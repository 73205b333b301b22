// A campaign as a job array of a real Slurm: Debian's controller and four nodes on this machine.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "results/store/store.hh"
#include "tests/postgres_server.hh"
#include "tests/slurm_cluster.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCampaign = R"(name: array
workload: latency
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
axes: {delay: [0, 1ms]}
fixed: {size: 1KiB, op: write, completion: poll}
repeat: {min: 6, max: 6}
)";
constexpr std::size_t kRuns = 4 * 6;

class Slurm : public SlurmTest {
 protected:
  static void SetUpTestSuite() {
    SlurmTest::SetUpTestSuite();
    if (!cluster_) return;
    write_file(path("array.yaml"), kCampaign);
    const auto plain = longhaul({"run", path("array.yaml"), "--lab", "--clock", "virtual", "--out", path("plain")});
    ASSERT_EQ(plain.code, 0) << plain.err;
  }
  static std::vector<std::string> command(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"run", path("array.yaml"), "--lab", "--slurm", "--shards", "4", "--out", path(out)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::size_t records(const std::string& out) {
    std::size_t sum = 0;
    for (int share = 1; share <= 4; ++share) {
      const auto store =
          results::Store::open(fmt::format("{}/slurm/shares/{}", path(out), share), results::OpenMode::read);
      if (store) sum += store->index()->size();
    }
    return sum;
  }
};

// A node dies with what runs on it, a task is taken away, the controller is started again, longhaul is killed and goes
// on: no run is lost, none is there twice, and the bytes are those of one machine by itself.
TEST_F(Slurm, WhatIsLostIsSubmittedAgainAndTheBytesAreTheSame) {
  auto process = start_longhaul(command("out"), path("log"));
  const auto await = [&](const char* what, auto condition) {
    holds_within(300s, [&] { return condition() || !process.running(); });
    ASSERT_TRUE(condition()) << what << ":\n" << read_file(path("log")) << SlurmCluster::queue();
  };
  await("a share runs", [] { return !SlurmCluster::processes_of(2).empty(); });
  cluster_->kill_node(2);
  await("a record", [] { return records("out") >= 1; });
  await("it is joined", [] {
    const auto store = results::Store::open(path("out"), results::OpenMode::read);
    return store && store->manifest();
  });
  const auto said = [](const char* text) { return read_file(path("log")).find(text) != std::string::npos; };
  await("the dead node is noticed", [&] { return said("warning: share 2: "); });
  cluster_->stop_controller();
  await("the controller is missed", [&] { return said("Slurm does not answer, it is waited for"); });
  cluster_->start_controller();
  process.send_signal(SIGKILL);
  ASSERT_TRUE(process.wait(10s));
  // Records were joined as they came.
  const auto joined = results::Store::open(path("out"), results::OpenMode::read);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_GE(*joined->count(), 1U);
  EXPECT_EQ(joined->manifest()->finished, 0);
  EXPECT_EQ(longhaul({"report", path("out")}).code, 0);
  EXPECT_GE(records("out"), *joined->count());
  // As an operator, or a queue that preempts, would.
  std::ifstream jobs{path("out/slurm/jobs")};
  std::string first;
  jobs >> first;
  run_program({"scancel", first + "_3"});

  const auto other = longhaul(command("out", {"--resume", "--shift", "2"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("begun with other options"));
  const auto resumed = longhaul(command("out", {"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err << read_file(path("out/slurm/2.log")) << read_file(path("out/slurm/3.log"));
  EXPECT_EQ(read_file(path("out/cells.csv")), read_file(path("plain/cells.csv")));
  const auto store = results::Store::open(path("out"), results::OpenMode::read);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->index()->size(), kRuns);
  EXPECT_FALSE(fs::exists(path("out/slurm/shares")));
  EXPECT_THAT(store->manifest()->command, HasSubstr("--out " + path("out") + " "));
  EXPECT_EQ(longhaul(command("out")).code, 2) << "it is there";
  EXPECT_EQ(longhaul(command("out", {"--resume"})).code, 0) << "nothing is left to do";
  cluster_->start_node(2);
}

// Two nodes die at the same time, with what they run. LONGHAUL_SLURM_SHARES and
// LONGHAUL_SLURM_NODES: how many (docs/performance.md).
TEST_F(Slurm, TwoNodesDieInTheMiddleOfManyShares) {
  const char* asked = std::getenv("LONGHAUL_SLURM_SHARES");
  const std::size_t shares = asked == nullptr ? 8 : std::stoul(asked);
  std::string campaign = "name: many\nworkload: latency\nseries: [{transport: rdma, provider: rxe}]\naxes: {size: [";
  for (std::size_t i = 0; i < shares; ++i) campaign += fmt::format("{}{}", i == 0 ? "" : ", ", 64 + i);
  write_file(path("many.yaml"), campaign + "]}\nfixed: {delay: 1ms, op: write}\nrepeat: {min: 1, max: 1}\n");
  const auto plain = longhaul({"run", path("many.yaml"), "--lab", "--clock", "virtual", "--out", path("one")});
  ASSERT_EQ(plain.code, 0) << plain.err;

  const auto begin = std::chrono::steady_clock::now();
  auto process = start_longhaul(
      {"run", path("many.yaml"), "--lab", "--slurm", "--shards", std::to_string(shares), "--out", path("many")},
      path("many.log"));
  const auto begun = [&] {
    std::size_t count = 0;
    for (std::size_t share = 1; share <= shares; ++share)
      count += fs::exists(path(fmt::format("many/slurm/shares/{}/manifest.json", share))) ? 1 : 0;
    return count;
  };
  ASSERT_TRUE(holds_within(600s, [&] { return begun() >= shares / 4 || !process.running(); }));
  ASSERT_TRUE(process.running()) << read_file(path("many.log"));
  for (const int node : {2, 3}) cluster_->kill_node(node);
  const auto end = process.wait(std::chrono::minutes{35});
  ASSERT_TRUE(end && end->ok()) << read_file(path("many.log"));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} shares, two nodes killed: {:.0f} s\n", shares, took.count());
  EXPECT_THAT(read_file(path("many.log")), HasSubstr("warning: share "));
  EXPECT_EQ(read_file(path("many/cells.csv")), read_file(path("one/cells.csv")));
  const auto store = results::Store::open(path("many"), results::OpenMode::read);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->index()->size(), shares) << "one lost, or one double";
  for (const int node : {2, 3}) cluster_->start_node(node);
}

// With a store a share finds nothing on its node, and leaves nothing: one that is taken away goes on behind its last
// record all the same.
TEST_F(Slurm, WithAStoreNodesShareNothing) {
  if (const auto why = testing_support::PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
  testing_support::PostgresServer server;
  server.make_database("lab");
  ASSERT_EQ(longhaul({"store", "init", server.url("lab")}).code, 0);
  auto process = start_longhaul(command("stored", {"--store", server.url("lab")}), path("stored.log"));
  const auto kept = [&] {
    std::size_t sum = 0;
    for (int share = 1; share <= 4; ++share) {
      const auto store =
          results::Store::open(fmt::format("{}#stored.{}", server.url("lab"), share), results::OpenMode::read);
      if (store) sum += store->index()->size();
    }
    return sum;
  };
  holds_within(300s, [&] { return kept() >= 2 || !process.running(); });
  ASSERT_GE(kept(), 2U) << read_file(path("stored.log"));
  std::ifstream jobs{path("stored/slurm/jobs")};
  std::string first;
  jobs >> first;
  run_program({"scancel", first});
  const auto end = process.wait(std::chrono::minutes{10});
  ASSERT_TRUE(end && end->ok()) << read_file(path("stored.log"));
  EXPECT_THAT(read_file(path("stored.log")), HasSubstr("CANCELLED"));
  EXPECT_EQ(read_file(path("stored/cells.csv")), read_file(path("plain/cells.csv")));
  EXPECT_FALSE(fs::exists(path("stored/slurm/shares")));
  const auto whole = results::Store::open(server.url("lab") + "#stored", results::OpenMode::read);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->index()->size(), kRuns);
  EXPECT_EQ(whole->manifest()->campaign_file, path("array.yaml"));
}

TEST_F(Slurm, WhatCannotBeSubmittedIsSaid) {
  const auto refused = [](const std::vector<std::string>& words, const char* why) {
    const auto run = longhaul(words);
    EXPECT_NE(run.code, 0);
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  refused(command("no", {"--partition", "nope"}), "choose one by --partition");
  refused(command("no", {"--resume", "--shift", "0"}), "begun with other options");
  refused({"run", path("array.yaml"), "--lab", "--slurm", "--partition", "nope", "--out", path("none")},
          "`sinfo` shows the partitions");
  refused({"run", path("array.yaml"), "--slurm", "--inventory", "x.yml", "--out", path("none")},
          "--slurm is for --lab");
  refused({"run", path("array.yaml"), "--lab", "--partition", "main", "--out", path("none")}, "are for --slurm");
  refused(command("no", {"--store", "postgresql://me:secret@h/lab"}), "put it into ~/.pgpass");
  cluster_->stop_controller();
  refused(command("dead"), "check that slurmctld runs");
  cluster_->start_controller();
}

// The same share fails three times without a run: its own words say why, and nothing is left in the queue.
TEST_F(Slurm, AShareThatCannotRunIsGivenUpWithItsWords) {
  const auto given_up = longhaul(command("limits", {"--sbatch=--export=NONE,HOME=/nonexistent,XDG_CACHE_HOME=/proc"}));
  EXPECT_EQ(given_up.code, 1) << given_up.out;
  EXPECT_THAT(given_up.err, HasSubstr("made no run in 3 submissions"));
  EXPECT_THAT(given_up.err, HasSubstr("QEMU is not to be had"));
  holds_within(30s, [] { return SlurmCluster::queue().empty(); });
  EXPECT_EQ(SlurmCluster::queue(), "");
}

TEST_F(Slurm, CtrlCCancelsTheJobsAndReportsWhatCame) {
  auto process = start_longhaul(command("stopped"), path("stopped.log"));
  holds_within(300s, [] { return records("stopped") >= 1; });
  ASSERT_GE(records("stopped"), 1U) << read_file(path("stopped.log"));
  process.send_signal(SIGTERM);
  const auto end = process.wait(20s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 130) << read_file(path("stopped.log"));
  EXPECT_THAT(read_file(path("stopped.log")), HasSubstr("the jobs are cancelled"));
  EXPECT_TRUE(fs::exists(path("stopped/report.html")));
  holds_within(30s, [] { return SlurmCluster::queue().empty(); });
  EXPECT_EQ(SlurmCluster::queue(), "");
}

}  // namespace
}  // namespace longhaul::testing
