// A campaign as a job array of a real Slurm: Debian's controller and four nodes on this machine.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "common/fd.hh"
#include "results/store/store.hh"
#include "tests/free_port.hh"
#include "tests/lab/lab_fixture.hh"
#include "tests/postgres_server.hh"

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
constexpr int kNodes = 4;

/// munged, slurmctld and a slurmd a node, in a folder that goes with them. SLURM_CONF leads to it.
class SlurmCluster {
 public:
  static std::string missing() {
    for (const char* program : {"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch", "/usr/sbin/munged"})
      if (!fs::exists(program)) return fmt::format("{} is missing: apt-get install slurmctld slurmd munge", program);
    return "";
  }

  SlurmCluster() {
    write_file(at("key"), std::string(128, 'k'));
    fs::permissions(at("key"), fs::perms::owner_read);
    for (const char* name : {"state", "spool"}) fs::create_directory(folder_.path() / name);
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    *std::find(host, host + sizeof host - 1, '.') = '\0';
    // Names of users, since slurm.conf knows no numbers.
    const auto user = run_program({"id", "-un"}).out;
    const auto name = user.substr(0, user.find('\n'));
    std::string text = fmt::format(
        "ClusterName=test\nSlurmctldHost={0}(127.0.0.1)\nSlurmctldPort={1}\nSlurmUser={2}\nSlurmdUser={2}\n"
        "AuthType=auth/munge\nAuthInfo=socket={3}/munge\nCredType=cred/munge\nStateSaveLocation={3}/state\n"
        "SlurmdSpoolDir={3}/spool/%n\nSlurmctldPidFile={3}/ctld.pid\nSlurmdPidFile={3}/%n.pid\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
        "SelectTypeParameters=CR_CPU\nSchedulerParameters=sched_interval=1,bf_interval=1\nReturnToService=2\n"
        "SlurmdTimeout=10\nKillWait=2\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n"
        "AccountingStorageType=accounting_storage/none\nSlurmdParameters=config_overrides\n",
        host, free_port(), name, folder_.path().string());
    for (int i = 1; i <= kNodes; ++i)
      text += fmt::format("NodeName=n{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=1\n", i, host, free_port());
    text += "PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP\n";
    write_file(at("slurm.conf"), text);
    ::setenv("SLURM_CONF", at("slurm.conf").c_str(), 1);
    log_ = OwnFd{::open(at("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
    daemons_["munged"] =
        start({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + at("key"), "--socket=" + at("munge"),
               "--pid-file=" + at("munge.pid"), "--seed-file=" + at("munge.seed"), "--log-file=" + at("munge.log")});
    holds_within(5s, [&] { return fs::exists(at("munge")); });
    start_controller();
    for (int i = 1; i <= kNodes; ++i) start_node(i);
    const auto idle = [] {
      return run_program({"sinfo", "-h", "-t", "idle", "-o", "%D"}).out == fmt::format("{}\n", kNodes);
    };
    if (!holds_within(30s, idle)) throw std::runtime_error("no Slurm here:\n" + read_file(at("log")));
  }

  void start_controller() { daemons_["controller"] = start({"/usr/sbin/slurmctld", "-D", "-i"}); }
  /// As an operator does. One that is killed begins again from what it saved some seconds before, and takes minutes to
  /// find out which of its jobs have ended since.
  void stop_controller() { daemons_["controller"].terminate(10s); }
  void start_node(int number) {
    daemons_[fmt::format("n{}", number)] = start({"/usr/sbin/slurmd", "-D", "-N", fmt::format("n{}", number)});
  }
  /// As a machine that loses its power: the daemon, and all that it has started.
  void kill_node(int number) {
    daemons_[fmt::format("n{}", number)] = Child{};
    for (const pid_t process : processes_of(number)) ::kill(process, SIGKILL);
  }
  /// What a job has started there, its steps' keepers with it.
  static std::vector<pid_t> processes_of(int number) {
    std::vector<pid_t> all;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const auto environment = read_file(entry.path() / "environ");
      if (environment.find(fmt::format("SLURMD_NODENAME=n{}", number) + '\0') != std::string::npos)
        all.push_back(std::stoi(entry.path().filename()));
    }
    return all;
  }

 private:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  Child start(std::vector<std::string> command) {
    return Child{{.arguments = std::move(command), .descriptors = {{log_.get(), 1}, {log_.get(), 2}}}};
  }

  TemporaryDirectory folder_;
  OwnFd log_;
  std::map<std::string, Child> daemons_;
};

class Slurm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmCluster::missing().empty()) return;
    cluster_ = std::make_unique<SlurmCluster>();
    directory_ = std::make_unique<TemporaryDirectory>();
    write_file(path("array.yaml"), kCampaign);
    const auto plain = longhaul({"run", path("array.yaml"), "--lab", "--clock", "virtual", "--out", path("plain")});
    ASSERT_EQ(plain.code, 0) << plain.err;
  }
  static void TearDownTestSuite() {
    directory_.reset();
    cluster_.reset();
  }
  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << SlurmCluster::missing();
  }
  static std::string path(const std::string& name) { return (directory_->path() / name).string(); }
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
  static std::string queue() { return run_program({"squeue", "-h", "-r"}).out; }

  static inline std::unique_ptr<SlurmCluster> cluster_;
  static inline std::unique_ptr<TemporaryDirectory> directory_;
};

// A node dies with what runs on it, a task is taken away, the controller is started again, longhaul is killed and goes
// on: no run is lost, none is there twice, and the bytes are those of one machine by itself.
TEST_F(Slurm, WhatIsLostIsSubmittedAgainAndTheBytesAreTheSame) {
  auto process = start_longhaul(command("out"), path("log"));
  const auto await = [&](const char* what, auto condition) {
    holds_within(300s, [&] { return condition() || !process.running(); });
    ASSERT_TRUE(condition()) << what << ":\n" << read_file(path("log")) << queue();
  };
  await("a share runs", [] { return !SlurmCluster::processes_of(2).empty(); });
  cluster_->kill_node(2);
  await("a record", [] { return records("out") >= 1; });
  const auto said = [](const char* text) { return read_file(path("log")).find(text) != std::string::npos; };
  await("the dead node is noticed", [&] { return said("warning: share 2: "); });
  cluster_->stop_controller();
  await("the controller is missed", [&] { return said("Slurm does not answer, it is waited for"); });
  cluster_->start_controller();
  process.send_signal(SIGKILL);
  ASSERT_TRUE(process.wait(10s));
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
  holds_within(30s, [] { return queue().empty(); });
  EXPECT_EQ(queue(), "");
}

TEST_F(Slurm, CtrlCCancelsTheJobs) {
  auto process = start_longhaul(command("stopped"), path("stopped.log"));
  holds_within(30s, [] { return !queue().empty(); });
  ASSERT_NE(queue(), "");
  process.send_signal(SIGTERM);
  const auto end = process.wait(20s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 130) << read_file(path("stopped.log"));
  EXPECT_THAT(read_file(path("stopped.log")), HasSubstr("the jobs are cancelled, --resume goes on"));
  holds_within(30s, [] { return queue().empty(); });
  EXPECT_EQ(queue(), "");
}

}  // namespace
}  // namespace longhaul::testing
