// Campaigns by a virtual clock: the same bits, however they come about.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <thread>

#include "results/store/store.hh"
#include "tests/lab/sealed_runs.hh"
#include "tests/postgres_server.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char* kCampaign = R"(name: sealed
workload: latency
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
axes: {delay: [0, 1ms]}
fixed: {size: 1KiB, op: write, completion: poll}
repeat: {min: 2, max: 2}
)";
constexpr std::size_t kRuns = 4 * 2;

bool alive(pid_t process) {
  const auto status = read_file("/proc/" + std::to_string(process) + "/status");
  return !status.empty() && status.find("State:\tZ") == std::string::npos;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  const auto mark = "PPid:\t" + std::to_string(parent) + "\n";
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto status = read_file(entry.path() / "status");
    if (status.find(mark) != std::string::npos) children.push_back(std::stoi(entry.path().filename()));
  }
  return children;
}

class Sealed : public ::testing::Test {
 protected:
  // One campaign, made once, is what all others are compared with.
  static void SetUpTestSuite() {
    directory_ = std::make_unique<TemporaryDirectory>();
    write_file(campaign(), kCampaign);
    const auto run = longhaul({"run", campaign(), "--lab", "--clock", "virtual", "--labs", "2", "--out", whole()});
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }
  static void TearDownTestSuite() { directory_.reset(); }

  static fs::path campaign() { return directory_->path() / "sealed.yaml"; }
  static fs::path whole() { return directory_->path() / "whole"; }
  static fs::path path(const char* name) { return directory_->path() / name; }

  static std::vector<RunRecord> runs(const fs::path& directory) {
    const auto store = results::Store::open(directory, results::OpenMode::read);
    return store ? store->runs().value() : std::vector<RunRecord>{};
  }

 private:
  static inline std::unique_ptr<TemporaryDirectory> directory_;
};

TEST(Plan, SaysWhatTheCampaignTakesByEitherClock) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "sealed.yaml", kCampaign);
  const auto told = longhaul({"run", directory.path() / "sealed.yaml", "--plan"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(told.out.find("sealed: 4 cells, 8 runs, about "), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("3 s by a virtual clock\n"), std::string::npos) << told.out;
  const auto plan = json::parse(longhaul({"run", directory.path() / "sealed.yaml", "--plan", "--json"}).out);
  // Windows of 64 ms and warm-ups of 8, with five and two round trips; 350 ms and six round trips around them.
  EXPECT_EQ(plan.at("estimate_virtual").as_int64(), 1'000'000LL * (4 * (64 + 8 + 350) + 4 * (74 + 12 + 350 + 12)));
  EXPECT_GT(plan.at("estimate").as_int64(), 8 * 1'450'000'000LL);
}

TEST_F(Sealed, DelaysAreAsAskedAndTheCampaignHasCheckedItself) {
  const auto all = runs(whole());
  ASSERT_EQ(all.size(), kRuns);
  for (const auto& run : all) {
    EXPECT_EQ(run.status, Status::ok) << run.message;
    EXPECT_EQ(run.attempt, 0);
    ASSERT_TRUE(run.virtual_clock);
    EXPECT_EQ(run.virtual_clock->digest, samples_digest(run));
    ASSERT_TRUE(run.path);
    EXPECT_NEAR(static_cast<double>(run.path->forward.achieved), static_cast<double>(run.path->forward.asked), 10'000);
    // Of some twenty probes it is the latest, which may have waited behind the workload's own packets.
    EXPECT_LT(run.path->forward.p99 - run.path->forward.achieved, 50'000);
  }
  const auto store = results::Store::open(whole(), results::OpenMode::read);
  ASSERT_TRUE(store);
  const auto manifest = store->manifest();
  ASSERT_TRUE(manifest && manifest->virtual_clock && manifest->virtual_clock->check);
  EXPECT_EQ(manifest->virtual_clock->check->runs, 3);
  EXPECT_EQ(manifest->virtual_clock->check->equal, 3);
  const auto page = read_file(whole() / "report.html");
  EXPECT_NE(page.find("virtual clock"), std::string::npos);
}

// Where packets waited on whichever processor sent them, those of one connection overtook one another, and a path under
// load was late.
TEST_F(Sealed, ALoadedPathKeepsTheOrderOfPacketsAndItsDelay) {
  const auto all = sealed_runs(
      "name: loaded\nworkload: throughput\nseries: [{transport: rdma, provider: rxe}, {transport: tcp, rival: rxe}]\n"
      "axes: {delay: [1ms]}\nfixed: {size: 64KiB}\nrepeat: {min: 2, max: 2}\n");
  ASSERT_EQ(all.size(), 4U);
  for (const auto& run : all) {
    EXPECT_EQ(run.attempt, 0);
    ASSERT_TRUE(run.path);
    EXPECT_NEAR(static_cast<double>(run.path->forward.achieved), 1e6, 20'000);
    for (const auto& [node, side] : run.nodes) {
      ASSERT_TRUE(side.transport) << node;
      for (const auto* counter : {"out_of_seq_request", "duplicate_request", "tcp_retransmits"})
        EXPECT_FALSE(side.transport->counters.contains(counter)) << node << " " << counter;
    }
  }
}

TEST_F(Sealed, OneCopyAtATimeBesideABusyMachineGivesTheSameBytes) {
  std::vector<Child> load;
  for (int i = 0; i < 2; ++i) load.emplace_back(ChildOptions{.arguments = {"sh", "-c", "while :; do :; done"}});
  // What its file is called, and where it lies, is nothing to a result either.
  const auto elsewhere = path("the same campaign under a longer name.yaml");
  fs::copy(campaign(), elsewhere);
  const auto run = longhaul({"run", elsewhere, "--lab", "--clock", "virtual", "--labs", "1", "--out", path("alone")});
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(read_file(path("alone") / "cells.csv"), read_file(whole() / "cells.csv"));
  const auto compared = longhaul({"compare", whole(), path("alone")});
  EXPECT_EQ(compared.code, 0) << compared.err;
}

TEST_F(Sealed, KilledAndResumedGivesTheSameBytes) {
  const auto out = path("killed");
  const std::vector<std::string> command{"run", campaign(), "--lab", "--clock", "virtual", "--out", out};
  auto process = start_longhaul(command, path("log"));
  const auto await_runs = [&](std::size_t wanted) {
    holds_within(300s, [&] { return runs(out).size() >= wanted || !alive(process.pid()); });
    ASSERT_GE(runs(out).size(), wanted) << read_file(path("log"));
  };
  // First a copy, then the machine that is copied, and all copies with it: their runs are made again. Then all of it.
  await_runs(1);
  const auto copies = [&] {
    std::vector<pid_t> all;
    for (const pid_t origin : children_of(process.pid()))
      for (const pid_t copy : children_of(origin)) all.push_back(copy);
    return all;
  };
  ASSERT_FALSE(copies().empty());
  ::kill(copies().front(), SIGKILL);
  await_runs(2);
  ASSERT_FALSE(children_of(process.pid()).empty());
  ::kill(children_of(process.pid()).front(), SIGKILL);
  await_runs(4);
  auto machines = children_of(process.pid());
  for (const pid_t copy : copies()) machines.push_back(copy);
  ::kill(process.pid(), SIGKILL);
  ASSERT_TRUE(process.wait(10s));
  for (int i = 0; i < 50 && std::any_of(machines.begin(), machines.end(), alive); ++i)
    std::this_thread::sleep_for(100ms);
  EXPECT_FALSE(std::any_of(machines.begin(), machines.end(), alive)) << "a machine outlives its owner";
  auto resume = command;
  resume.emplace_back("--resume");
  const auto run = longhaul(resume);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(runs(out).size(), kRuns);
  EXPECT_EQ(read_file(out / "cells.csv"), read_file(whole() / "cells.csv"));
}

// In a mount namespace of its own: a file system that has room for the beginning of the campaign only.
TEST_F(Sealed, ADiskThatFillsUpEndsItAndResumeGivesTheSameBytes) {
  const auto disk = path("disk");
  const std::string script = R"(set -e
mkdir -p "$1"
mount -t tmpfs -o size=8m small "$1"
fallocate -l $((8 * 1024 * 1024 - 160 * 1024)) "$1/other"
code=0
"$2" run "$3" --lab --clock virtual --labs 1 --out "$1/out" || code=$?
echo "ended with $code"
rm "$1/other"
"$2" run "$3" --lab --clock virtual --labs 1 --out "$1/out" --resume
cp "$1/out/cells.csv" "$4"
)";
  const auto ran =
      run_program({"unshare", "-rm", "sh", "-c", script, "sh", disk, bin("longhaul"), campaign(), path("filled.csv")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("ended with 0"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("on with --resume"), std::string::npos) << ran.err;
  EXPECT_EQ(read_file(path("filled.csv")), read_file(whole() / "cells.csv"));
}

TEST_F(Sealed, SharesJoinedGiveTheSameBytes) {
  const auto printed = longhaul({"run", campaign(), "--lab", "--shards", "2", "--out", path("share")});
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 2);
  for (const char* share : {"1/2", "2/2"}) {
    const auto run = longhaul({"shard", campaign(), "--share", share, "--labs", "2", "--out",
                               path("share").string() + "." + std::string{share, 1}});
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }
  const auto merged = longhaul({"merge", path("share.1"), path("share.2"), "--out", path("merged")});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(read_file(path("merged") / "cells.csv"), read_file(whole() / "cells.csv"));
}

// A server that is started again in the middle of a campaign, and a longhaul that is killed: the same bytes, and
// nothing is there twice.
TEST_F(Sealed, InPostgreSqlTheSameBytes) {
  if (const auto why = testing_support::PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
  testing_support::PostgresServer server;
  server.make_database("lab");
  const auto url = server.url("lab");
  ASSERT_EQ(longhaul({"store", "init", url}).code, 0);
  const auto out = path("stored");
  std::vector<std::string> command{"run", campaign(), "--lab", "--clock", "virtual", "--labs", "1", "--out", out};
  auto first = command;
  first.insert(first.end(), {"--store", url + "#sealed"});
  auto process = start_longhaul(first, path("stored.log"));
  const auto kept = [&] { return runs(url + "#sealed").size(); };
  const auto await_runs = [&](std::size_t wanted) {
    holds_within(300s, [&] { return kept() >= wanted || !alive(process.pid()); });
    ASSERT_GE(kept(), wanted) << read_file(path("stored.log"));
  };
  await_runs(1);
  server.stop();
  std::this_thread::sleep_for(1s);
  server.start();
  await_runs(3);
  ::kill(process.pid(), SIGKILL);
  ASSERT_TRUE(process.wait(10s));
  EXPECT_FALSE(fs::exists(out / "results.db"));
  command.emplace_back("--resume");
  const auto resumed = longhaul(command);
  ASSERT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  EXPECT_EQ(kept(), kRuns);
  EXPECT_EQ(read_file(out / "cells.csv"), read_file(whole() / "cells.csv"));
  const auto verified = longhaul({"verify", url + "#sealed", "--cells", "1"});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_NE(verified.out.find("2 of 2 runs are the same"), std::string::npos) << verified.out;
}

// No file of one share is needed by another, nor by who joins them.
TEST_F(Sealed, SharesInPostgreSqlJoinedGiveTheSameBytes) {
  if (const auto why = testing_support::PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
  testing_support::PostgresServer server;
  server.make_database("lab");
  server.sql("lab", "CREATE ROLE bench LOGIN");
  ASSERT_EQ(longhaul({"store", "init", server.url("lab"), "--writer", "bench"}).code, 0);
  const auto address = [&](const char* name) { return server.url("lab", "bench") + "#" + name; };
  std::vector<Child> shares;
  for (const char* number : {"1", "2"})
    shares.push_back(start_longhaul({"shard", campaign(), "--share", fmt::format("{}/2", number), "--out",
                                     path("pg").string() + number, "--store", address("part.") + number},
                                    path("pg.log").string() + number));
  for (auto& share : shares) {
    const auto end = share.wait(std::chrono::minutes{10});
    ASSERT_TRUE(end && end->ok()) << read_file(path("pg.log1")) << read_file(path("pg.log2"));
  }
  for (const char* number : {"1", "2"}) fs::remove_all(path("pg").string() + number);
  const auto merged = longhaul(
      {"merge", address("part.1"), address("part.2"), "--out", path("pg.merged"), "--store", address("whole")});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(runs(address("whole")).size(), kRuns);
  EXPECT_EQ(read_file(path("pg.merged") / "cells.csv"), read_file(whole() / "cells.csv"));
}

TEST_F(Sealed, VerifyMakesItAgainAndNamesWhatDiffers) {
  const auto good = longhaul({"verify", whole(), "--cells", "2"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("4 of 4 runs are the same, bit by bit"), std::string::npos) << good.out;

  const auto often = longhaul({"verify", whole(), "--cells", "1", "--times", "3"});
  EXPECT_EQ(often.code, 0) << often.err;
  EXPECT_NE(often.out.find("6 of 6 runs are the same, bit by bit"), std::string::npos) << often.out;

  fs::copy(whole(), path("forged"), fs::copy_options::recursive);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((path("forged") / "results.db").c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database,
                         "UPDATE runs SET document = json_set(document, '$.nodes.client.metrics.latency.value', 1.5) "
                         "WHERE sequence = (SELECT MIN(sequence) FROM runs)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  const auto forged = longhaul({"verify", path("forged")});
  EXPECT_EQ(forged.code, 3) << forged.err;
  EXPECT_NE(forged.out.find("nodes.client.metrics.latency.value: 1.5"), std::string::npos) << forged.out;
  EXPECT_NE(forged.out.find("7 of 8 runs"), std::string::npos) << forged.out;
}

TEST_F(Sealed, WhatContradictsItselfIsRefused) {
  const auto refused = [](std::vector<std::string> words, const std::string& why) {
    const auto run = longhaul(std::move(words));
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_NE(run.err.find(why), std::string::npos) << run.err;
  };
  refused({"run", campaign(), "--lab", "--topology", "full", "--clock", "virtual", "--out", path("no")},
          "--topology compact");
  refused({"run", campaign(), "--inventory", "x.yml", "--clock", "virtual", "--out", path("no")}, "take --lab");
  refused({"run", campaign(), "--lab", "--clock", "host", "--out", whole(), "--resume"}, "virtual clock");
  refused({"run", campaign(), "--lab", "--shift", "2", "--out", whole(), "--resume"}, "--shift 1");
  EXPECT_FALSE(fs::exists(path("no")));
}

}  // namespace
}  // namespace longhaul::testing
