// Whole campaigns: what they leave behind, what survives when something is killed in the middle, and what is refused.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <set>
#include <thread>

#include "results/store/store.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char* kCampaign = R"(name: small
workload: latency
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
axes: {delay: [0, 5ms], size: [64B]}
fixed: {duration: 400ms, completion: poll, op: write}
repeat: {min: 6, max: 6}
)";
constexpr std::size_t kRuns = 4 * 6;

class Campaign : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { lab_ = std::make_unique<BootedLab>("compact"); }
  static void TearDownTestSuite() { lab_.reset(); }
  static BootedLab& lab() { return *lab_; }

  void SetUp() override { write_file(campaign(), kCampaign); }
  void TearDown() override {
    if (HasFailure()) end_if_gone(lab_);
  }
  fs::path campaign() const { return directory_.path() / "small.yaml"; }
  fs::path out() const { return directory_.path() / "out"; }
  fs::path log() const { return directory_.path() / "log"; }

  std::vector<std::string> command(bool resume = false) const {
    std::vector<std::string> all{"run", campaign(), "--inventory", lab().inventory(), "--out", out()};
    if (resume) all.push_back("--resume");
    return all;
  }

  /// The runs that count, as the store has them: one for each cell and repetition, if nothing was lost or repeated.
  static void expect_complete(const fs::path& directory, std::size_t runs = kRuns) {
    const auto store = results::Store::open(directory, results::OpenMode::read);
    ASSERT_TRUE(store) << store.error().message;
    std::multiset<std::pair<std::string, int>> ok;
    std::set<std::string> ids;
    const auto all = store->runs().value();
    for (const auto& run : all) {
      EXPECT_TRUE(ids.insert(run.run_id).second) << run.run_id << " twice";
      if (run.status == Status::ok) ok.emplace(run.cell_id, run.repetition);
    }
    EXPECT_EQ(ok.size(), runs);
    for (const auto& run : ok) EXPECT_EQ(ok.count(run), 1U) << run.first << "/" << run.second << " was measured again";
  }

  static void expect_unimpaired() {
    // Within 10 s: degen's lease ends 5 s after the last that it heard of its client.
    lab().must("router",
               "for i in $(seq 100); do tc qdisc show | grep -q netem || exit 0; sleep 0.1; done; "
               "tc qdisc show >&2; exit 1");
  }

  /// Waits until the store holds at least `runs` runs.
  void wait_for_runs(std::size_t runs) const {
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(200ms);
      if (!fs::exists(out() / "results.db")) continue;
      const auto store = results::Store::open(out(), results::OpenMode::read);
      if (store && store->runs().value().size() >= runs) return;
    }
    FAIL() << "no " << runs << " runs in two minutes:\n" << read_file(log());
  }

 private:
  static inline std::unique_ptr<BootedLab> lab_;
  TemporaryDirectory directory_;
};

TEST_F(Campaign, LeavesEverythingThatTheReaderNeeds) {
  const auto run = longhaul(command());
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  expect_complete(out());
  expect_unimpaired();
  for (const auto* file : {"results.db", "report.html", "cells.csv", "manifest.json", "claims.json"})
    EXPECT_TRUE(fs::exists(out() / file)) << file;
  const auto rows = read_csv(out() / "cells.csv", "latency");
  ASSERT_EQ(rows.size(), 4U);
  // The processors of both ends are in it.
  for (const auto* process : {"client_process_cpu", "server_process_cpu"}) {
    const auto shares = read_csv(out() / "cells.csv", process);
    ASSERT_EQ(shares.size(), 4U) << process;
    for (const auto& row : shares) EXPECT_GT(std::stod(row.at("median")), 0) << process;
  }
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok");
    EXPECT_EQ(row.at("clock"), "host");
    EXPECT_EQ(row.at("runs"), "6");
    EXPECT_LE(std::stod(row.at("ci_low")), std::stod(row.at("median")));
    EXPECT_GE(std::stod(row.at("ci_high")), std::stod(row.at("median")));
    for (const std::string way : {"", "_back"})
      EXPECT_NEAR(std::stod(row.at("achieved_delay" + way + "_us")), std::stod(row.at("delay" + way + "_us")),
                  std::max(200.0, 0.05 * std::stod(row.at("delay_us"))));
  }
  const auto again = longhaul({"compare", out(), out()});
  EXPECT_EQ(again.code, 0) << again.err;
  const auto there = longhaul(command());
  EXPECT_EQ(there.code, 2) << "a directory that holds results is not overwritten: " << there.err;

  write_file(campaign(), std::string{kCampaign} + "# changed\n");
  const auto changed = longhaul(command(true));
  EXPECT_EQ(changed.code, 2);
  EXPECT_NE(changed.err.find("changed"), std::string::npos) << changed.err;
}

// One run of each, of several workloads and on both paths: what is put together from records, and what is said of
// claims.
TEST_F(Campaign, ExperimentsOfManyWorkloadsMakeOneReport) {
  write_file(campaign(), R"(name: many
series:
  - {transport: rdma, provider: siw}
  - {transport: tcp, rival: siw}
fixed: {duration: 200ms}
experiments:
  - {workload: latency, axes: {size: [1KiB]}, fixed: {path: lan, duration: 200ms}}
  - {workload: latency, axes: {delay: [1ms]}, fixed: {size: 1KiB, duration: 200ms}}
  - {workload: overlap, axes: {compute: [242us]}}
  - {workload: progress, axes: {load: [0, 5ms]}}
  - {workload: rendezvous, axes: {protocol: [eager, write]}, fixed: {delay: 1ms, duration: 200ms}}
  - {workload: throughput, axes: {streams: [2]}}
  - {workload: cpu_load, axes: {clients: [4]}, fixed: {duration: 500ms}}
  - {workload: packets, series: [{transport: tcp, rival: rxe}], fixed: {delay: 1ms, loss: 10%, duration: 500ms}}
repeat: {min: 1}
)");
  const auto run = longhaul(command());
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  std::map<std::string, int> seen;
  for (const auto& row : read_csv(out() / "cells.csv")) {
    const auto& workload = row.at("workload");
    ++seen[workload];
    EXPECT_TRUE(row.at("status") == "ok" || row.at("status") == "limited") << workload << " " << row.at("status");
    EXPECT_FALSE(row.at("median").empty()) << workload << " " << row.at("metric");
    EXPECT_EQ(row.at("path") == "lan", row.at("delay_us").empty());
  }
  EXPECT_EQ(seen.size(), 7U);
  expect_unimpaired();
  const auto claims = json::parse(longhaul({"claims", out(), "--json"}).out).at("claims").as_array();
  std::set<std::string> heard;
  for (const auto& claim : claims)
    if (!claim.at("findings").as_array().empty()) heard.emplace(claim.at("id").as_string());
  EXPECT_EQ(heard, (std::set<std::string>{"W2", "W3", "W4", "W5", "W7", "W8", "W9", "W10", "W11"}));
}

TEST_F(Campaign, SurvivesTheDeathOfItsOrchestrator) {
  auto process = start_longhaul(command(), log());
  wait_for_runs(5);
  process.send_signal(SIGKILL);
  ASSERT_TRUE(process.wait(10s));
  expect_unimpaired();
  const auto resumed = longhaul(command(true));
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  expect_complete(out());
}

TEST_F(Campaign, CtrlCCleansUpAndKeepsWhatWasMeasured) {
  auto process = start_longhaul(command(), log());
  wait_for_runs(3);
  process.send_signal(SIGINT);
  const auto ended = process.wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 130) << read_file(log());
  EXPECT_NE(read_file(log()).find("cells: 4 not finished"), std::string::npos) << "none is refused or failed yet";
  expect_unimpaired();
  const auto resumed = longhaul(command(true));
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  expect_complete(out());
}

TEST_F(Campaign, SurvivesTheDeathOfItsParts) {
  auto process = start_longhaul(command(), log());
  wait_for_runs(2);
  ASSERT_TRUE(lab().signal("client", "KILL", "longhaul-bench latency"));
  wait_for_runs(5);
  ASSERT_TRUE(lab().signal("router", "KILL", "degen serve "));
  wait_for_runs(8);
  ASSERT_TRUE(lab().signal("client", "KILL", "longhaul-agent --node client "));
  const auto ended = process.wait(4min);
  ASSERT_TRUE(ended) << read_file(log());
  if (ended->code != 0) {  // a part was away for longer than the retries: then --resume completes it
    EXPECT_EQ(ended->code, 3) << read_file(log());
    const auto resumed = longhaul(command(true));
    EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  }
  expect_complete(out());
  expect_unimpaired();
}

TEST_F(Campaign, RefusesWhatIsNotThere) {
  auto text = std::string{kCampaign};
  text.replace(text.find("provider: rxe"), 13, "provider: mlx5");
  write_file(campaign(), text);
  const auto provider = longhaul(command());
  EXPECT_EQ(provider.code, 2);
  EXPECT_NE(provider.err.find("no mlx5 device"), std::string::npos) << provider.err;

  write_file(campaign(), kCampaign);
  auto inventory = read_file(lab().inventory());
  const auto port = inventory.find("longhaul_port: ");
  ASSERT_NE(port, std::string::npos) << inventory;
  const auto begin = port + std::string{"longhaul_port: "}.size();
  inventory.replace(begin, inventory.find_first_not_of("0123456789", begin) - begin, "1");
  const auto wrong = campaign().parent_path() / "inventory.yml";
  write_file(wrong, inventory);
  const auto unreachable = longhaul({"run", campaign(), "--inventory", wrong, "--out", out()});
  EXPECT_NE(unreachable.code, 0);
  EXPECT_NE(unreachable.err.find("127.0.0.1"), std::string::npos) << unreachable.err;
}

TEST_F(Campaign, RefusesAgentsOfAnotherAuthority) {
  const auto pki = campaign().parent_path() / "pki";
  ASSERT_EQ(longhaul({"pki", "init", "--dir", pki}).code, 0);
  const auto issued = longhaul({"pki", "issue", "--dir", pki, "controller", "stranger"});
  ASSERT_EQ(issued.code, 0) << issued.err;
  auto inventory = read_file(lab().inventory());
  const std::pair<const char*, fs::path> files[] = {
      {"ca", pki / "ca.pem"}, {"cert", pki / "controller-stranger.pem"}, {"key", pki / "controller-stranger.key"}};
  for (const auto& [name, file] : files)
    inventory = std::regex_replace(inventory, std::regex{fmt::format("longhaul_{}: *[^,\\n}}]*", name)},
                                   fmt::format("longhaul_{}: \"{}\"", name, file.string()));
  const auto strange = pki.parent_path() / "inventory.yml";
  write_file(strange, inventory);
  const auto run = longhaul({"run", campaign(), "--inventory", strange, "--out", out()});
  EXPECT_NE(run.code, 0);
  EXPECT_NE(run.err.find("certificate"), std::string::npos) << run.err;
}

// A node computes what this machine does; a policy that there is not is refused before anything is computed.
TEST_F(Campaign, SimulationsAreComputedOnANode) {
  const std::string text =
      "name: caches\nworkload: simulation\nseries: [{sizes: httpd}, {sizes: cello92}]\n"
      "axes: {policy: [lru, rate], cost: [mietke]}\nfixed: {requests: 20000}\nrepeat: {min: 2}\n";
  write_file(campaign(), text);
  const auto run = longhaul(command());
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  int compared = 0;
  for (const auto& row : read_csv(out() / "cells.csv")) {
    if (row.at("metric") != "hit_ratio" && row.at("metric") != "cost_saved") continue;
    const auto parameters = json::parse(row.at("params"));
    const auto of = [&](const char* name, const char* fallback) {
      const auto* value = parameters.as_object().if_contains(name);
      return std::string{value == nullptr ? fallback : value->as_string().c_str()};
    };
    const auto here =
        run_program({std::string{LONGHAUL_BINARY_DIR} + "/bin/longhaul-bench", "simulation", "--requests", "20000",
                     "--cost", "mietke", "--policy", of("policy", "lru"), "--sizes", of("sizes", "httpd"), "--json"});
    ASSERT_EQ(here.code, 0) << here.err;
    const auto metric = json::parse(here.out).at("local").at("metrics").at(row.at("metric"));
    EXPECT_NEAR(std::stod(row.at("median")), metric.at("value").to_number<double>(), 1e-3) << row.at("cell");
    ++compared;
  }
  EXPECT_EQ(compared, 4 * 2);

  write_file(campaign(), std::regex_replace(text, std::regex{"rate"}, "rat"));
  const auto refused = longhaul(command());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("small.yaml:4:"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("did you mean 'rate'"), std::string::npos) << refused.err;
}

// A lab of the campaign's own: where its VM is killed, the console's last lines are told and the campaign goes on in
// another lab.
TEST(CampaignWithLab, SurvivesTheDeathOfAMachine) {
  const TemporaryDirectory directory;
  const auto campaign = directory.path() / "small.yaml";
  const auto out = directory.path() / "out";
  write_file(campaign, kCampaign);
  auto process = start_longhaul({"run", campaign, "--lab", "--clock", "host", "--out", out}, directory.path() / "log");
  for (int i = 0; i < 300; ++i) {
    std::this_thread::sleep_for(200ms);
    if (!fs::exists(out / "results.db")) continue;
    const auto store = results::Store::open(out, results::OpenMode::read);
    if (store && store->runs().value().size() >= 4) break;
  }
  const auto status = json::parse(longhaul({"lab", "status", "--json"}).out);
  int killed = 0;
  for (const auto& lab : status.at("labs").as_array()) {
    if (!lab.at("ephemeral").as_bool()) continue;
    for (const auto& machine : lab.at("machines").as_array()) {
      // Only a VM whose parent is our process: another ephemeral lab may be somebody else's.
      const auto pid = static_cast<pid_t>(machine.at("pid").as_int64());
      const auto stat = read_file("/proc/" + std::to_string(pid) + "/status");
      if (stat.find("PPid:\t" + std::to_string(process.pid()) + "\n") == std::string::npos) continue;
      ::kill(pid, SIGKILL);
      ++killed;
    }
  }
  ASSERT_EQ(killed, 1) << json::serialize(status);
  const auto ended = process.wait(180s);
  const auto said = read_file(directory.path() / "log");
  ASSERT_TRUE(ended) << said;
  EXPECT_EQ(ended->code, 0) << said;
  EXPECT_NE(said.find("the lab is lost, another is booted"), std::string::npos) << said;
  EXPECT_NE(said.find("machine compact of the lab has died"), std::string::npos) << said;
  EXPECT_NE(said.find("longhaul: ready"), std::string::npos) << "the console: " << said;
  const auto store = results::Store::open(out, results::OpenMode::read);
  ASSERT_TRUE(store);
  const auto runs = store->runs().value();
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.status == Status::ok; }), kRuns);
}

// A lab gets as many clients as the campaign wants; all of them send to the one server at a time.
TEST(CampaignWithLab, SpreadsConnectionsOverClientNodes) {
  const TemporaryDirectory directory;
  const auto campaign = directory.path() / "spread.yaml";
  const auto out = directory.path() / "out";
  write_file(campaign, R"(name: spread
workload: cpu_load
series:
  - {transport: rdma, provider: siw}
  - {transport: tcp, rival: siw}
axes: {client_nodes: [1, 2]}
fixed: {clients: 4, duration: 1s, work: 2ms}
repeat: {min: 1}
)");
  const auto run = longhaul({"run", campaign, "--lab", "--clock", "host", "--topology", "compact", "--out", out});
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto store = results::Store::open(out, results::OpenMode::read);
  ASSERT_TRUE(store);
  const auto runs = store->runs().value();
  std::size_t spread = 0;
  for (const auto& one : runs) {
    if (one.status != Status::ok || !one.parameters.contains("client_nodes")) continue;
    if (one.parameters.at("client_nodes") == Value{1}) continue;
    ++spread;
    ASSERT_TRUE(one.nodes.contains("client2"));
    const auto& server = one.nodes.at("server");
    EXPECT_GT(server.metrics.at("received").value, 0);
    if (one.parameters.at("transport") != Value{"rdma"}) continue;
    const auto sent = [&](const char* node) { return one.nodes.at(node).metrics.at("sent").value; };
    EXPECT_GT(sent("client"), 0);
    EXPECT_GT(sent("client2"), 0);
    EXPECT_DOUBLE_EQ(server.metrics.at("received").value, sent("client") + sent("client2"));
  }
  EXPECT_EQ(spread, 2U);
}

// The demonstration itself: every cell of campaigns/quick.yaml.
TEST(CampaignWithLab, QuickGivesAllOfItsCells) {
  const TemporaryDirectory directory;
  const auto out = directory.path() / "out";
  const auto run = longhaul({"run", LONGHAUL_SOURCE_DIR "/campaigns/quick.yaml", "--lab", "--out", out});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const auto rows = read_csv(out / "cells.csv", "latency");
  ASSERT_EQ(rows.size(), 32U);
  std::set<std::string> series;
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("status"), "ok");
    series.insert(row.at("transport") + " " + row.at("device"));
    const auto delay = std::stod(row.at("delay_us"));
    EXPECT_NEAR(std::stod(row.at("achieved_delay_us")), delay, std::max(200.0, 0.05 * delay)) << row.at("cell");
    EXPECT_NEAR(std::stod(row.at("achieved_delay_back_us")), delay, std::max(200.0, 0.05 * delay)) << row.at("cell");
  }
  EXPECT_EQ(series, (std::set<std::string>{"rdma rxe_a0", "rdma siw_a1", "tcp a0", "tcp a1"}));
}

}  // namespace
}  // namespace longhaul::testing
