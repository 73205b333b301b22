// The program's commands on a store: longhaul store, report, compare, claims, merge and --store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstring>
#include <fstream>

#include "common/child.hh"
#include "results/store/postgres/connection.hh"
#include "results/store/store.hh"
#include "tests/postgres_server.hh"
#include "tests/results/small.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::PostgresServer;

struct Said {
  int code = 0;
  std::string out, errors;
};

Said longhaul(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LONGHAUL_BINARY_DIR "/bin/longhaul");
  Said said;
  auto done = run_command(arguments, &said.errors);
  said.code = done.exit.code.value_or(-1);
  said.out = std::move(done.out);
  return said;
}

class StoreProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::missing().empty()) GTEST_SKIP() << PostgresServer::missing();
    server_ = std::make_unique<PostgresServer>();
    server_->make_database("lab");
    server_->sql("lab", "CREATE ROLE bench LOGIN; CREATE ROLE grafana LOGIN");
  }
  std::string url(const std::string& role = "owner") const { return server_->url("lab", role); }
  std::string at(const std::string& name) const { return (scratch_.path() / name).string(); }

  TemporaryDirectory scratch_;
  std::unique_ptr<PostgresServer> server_;
};

TEST_F(StoreProgram, FromNothingToAReportAndBack) {
  const auto before = longhaul({"store", "list", url()});
  EXPECT_EQ(before.code, 2);
  EXPECT_THAT(before.errors, HasSubstr("longhaul store init URL"));
  const auto init = longhaul({"store", "init", url(), "--writer", "bench", "--reader", "grafana"});
  ASSERT_EQ(init.code, 0) << init.errors;
  EXPECT_THAT(init.out, HasSubstr("the store is made"));
  EXPECT_THAT(longhaul({"store", "init", url()}).out, HasSubstr("there already"));
  EXPECT_THAT(longhaul({"store", "list", url("bench")}).out, HasSubstr("no campaign yet"));

  const auto campaign =
      synthetic::campaign({.delays_ns = {0, 1'000'000}, .sizes = {64, 4096}, .runs = 6, .samples = 200});
  ASSERT_TRUE(synthetic::write(campaign, at("out")));
  ASSERT_EQ(longhaul({"report", at("out")}).code, 0);
  const auto copied = longhaul({"store", "copy", at("out"), url("bench") + "#quick"});
  ASSERT_EQ(copied.code, 0) << copied.errors;
  EXPECT_THAT(copied.out, HasSubstr(fmt::format("{} runs copied", campaign.runs.size())));
  const auto twice = longhaul({"store", "copy", at("out"), url("bench") + "#quick"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.errors, HasSubstr("holds a campaign already"));

  // Whoever reads has the same answers from either.
  const auto there = url("grafana") + "#quick";
  const auto listed = longhaul({"store", "list", url("grafana")});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("quick: "), HasSubstr(fmt::format("{} runs", campaign.runs.size()))));
  EXPECT_EQ(longhaul({"claims", there}).out, longhaul({"claims", at("out")}).out);
  const auto figures = [&](const std::string& first) {
    return boost::json::parse(longhaul({"compare", first, at("out"), "--json"}).out).at("figures");
  };
  EXPECT_EQ(figures(there), figures(at("out")));
  EXPECT_THAT(longhaul({"report", there}).errors, HasSubstr("--out DIR is missing"));
  const auto report = longhaul({"report", there, "--out", at("page")});
  ASSERT_EQ(report.code, 0) << report.errors;
  EXPECT_EQ(slurp(at("page") + "/cells.csv"), slurp(at("out") + "/cells.csv"));
  EXPECT_FALSE(slurp(at("page") + "/report.html").empty());

  const auto back = longhaul({"store", "copy", there, at("back")});
  ASSERT_EQ(back.code, 0) << back.errors;
  ASSERT_EQ(longhaul({"report", at("back")}).code, 0);
  EXPECT_EQ(slurp(at("back") + "/cells.csv"), slurp(at("out") + "/cells.csv"));
  EXPECT_EQ(slurp(at("back") + "/manifest.json"), slurp(at("out") + "/manifest.json"));
}

TEST_F(StoreProgram, ARunThatCannotBeKeptIsRefusedBeforeAnythingIsBooted) {
  const std::string campaign = LONGHAUL_SOURCE_DIR "/campaigns/quick.yaml";
  const auto run = [&](const std::string& store) {
    return longhaul({"run", campaign, "--lab", "--out", at("new"), "--store", store});
  };
  const auto none = run(url());
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.errors, HasSubstr("there is no store in this database"));
  ASSERT_EQ(longhaul({"store", "init", url(), "--reader", "grafana"}).code, 0);
  EXPECT_THAT(run(url("grafana")).errors, HasSubstr("not the right"));
  EXPECT_THAT(run("mysql://h/lab").errors, HasSubstr("no address of a PostgreSQL store"));
  EXPECT_THAT(run(url() + "#a b").errors, HasSubstr("cannot be a campaign's name"));
  // Called as its directory is.
  ASSERT_TRUE(synthetic::write(synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .runs = 2, .samples = 50}),
                               url() + "#new"));
  EXPECT_THAT(run(url()).errors, AllOf(HasSubstr("#new"), HasSubstr("of this name already")));
  EXPECT_FALSE(fs::exists(at("new")));
  server_->stop();
  const auto gone = run(url());
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.errors, HasSubstr("no answer from the server"));
}

// A database stands for its campaigns.
TEST_F(StoreProgram, HistoryReadsAStore) {
  ASSERT_EQ(longhaul({"store", "init", url()}).code, 0);
  EXPECT_THAT(longhaul({"history", "latency", url()}).errors, HasSubstr("none of these campaigns has a figure"));
  for (unsigned seed : {1, 2}) {
    auto campaign = synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .runs = 6, .seed = seed, .samples = 200});
    campaign.manifest.started = seed;
    ASSERT_TRUE(synthetic::write(campaign, fmt::format("{}#night.{}", url(), seed)));
  }
  const auto both = longhaul({"history", "latency", url()});
  EXPECT_EQ(both.code, 0) << both.errors;
  EXPECT_THAT(both.out, AllOf(HasSubstr("night.1 (6 runs)"), HasSubstr("night.2 (6 runs)"), HasSubstr("  x ")));
  EXPECT_THAT(longhaul({"history", "latency", url(), "--last", "1"}).out,
              AllOf(Not(HasSubstr("night.1 ")), HasSubstr("night.2 (6 runs)")));
  EXPECT_THAT(longhaul({"history", "latenc", url()}).errors, HasSubstr("is no workload: expected one of"));
}

// What the dashboard asks, asked as Grafana would: a time range and a campaign put in.
TEST_F(StoreProgram, TheDashboardsQueriesAreAnswered) {
  ASSERT_EQ(longhaul({"store", "init", url(), "--reader", "grafana"}).code, 0);
  ASSERT_TRUE(synthetic::write(
      synthetic::campaign({.delays_ns = {0, 1'000'000}, .sizes = {64}, .runs = 6, .samples = 200}), url() + "#quick"));
  const auto text = slurp(LONGHAUL_SOURCE_DIR "/packaging/grafana/longhaul.json");
  const auto dashboard = boost::json::parse(text);
  auto connection = Connection::open(*parse_postgres(url("grafana")), true);
  ASSERT_TRUE(connection) << connection.error().message;
  const auto filled = [](std::string sql) {
    const std::pair<const char*, const char*> kMacros[] = {{"$__timeFilter(started)", "started IS NOT NULL"},
                                                           {"$workload", "latency"},
                                                           {"$metric", "latency"},
                                                           {"$campaign", "quick"}};
    for (const auto& [macro, value] : kMacros)
      for (auto at = sql.find(macro); at != std::string::npos; at = sql.find(macro))
        sql.replace(at, std::strlen(macro), value);
    return sql;
  };
  std::size_t asked = 0;
  const auto ask = [&](const boost::json::value& sql) {
    const auto rows = connection->run(filled(std::string{sql.as_string()}).c_str());
    ASSERT_TRUE(rows) << sql << ": " << rows.error().message;
    EXPECT_GT(rows->count(), 0) << sql;
    ++asked;
  };
  for (const auto& panel : dashboard.at("panels").as_array())
    for (const auto& target : panel.at("targets").as_array()) ask(target.at("rawSql"));
  for (const auto& variable : dashboard.at("templating").at("list").as_array())
    if (variable.at("type").as_string() == "query") ask(variable.at("query"));
  EXPECT_GE(asked, 6U);
}

TEST_F(StoreProgram, SharesAreCampaignsOfTheirOwn) {
  const std::string campaign = LONGHAUL_SOURCE_DIR "/campaigns/quick.yaml";
  const auto commands = longhaul({"run", campaign, "--lab", "--clock", "virtual", "--shards", "2", "--out", at("q"),
                                  "--store", "postgresql://db/lab#q"});
  if (commands.code != 0) GTEST_SKIP() << commands.errors;
  EXPECT_THAT(commands.out, AllOf(HasSubstr("--out " + at("q.1") + " --store 'postgresql://db/lab#q.1'"),
                                  HasSubstr("--out " + at("q.2") + " --store 'postgresql://db/lab#q.2'")));
}

}  // namespace
}  // namespace longhaul::results
