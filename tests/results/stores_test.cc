// What every kind of store does: one suite, run against SQLite and a real PostgreSQL server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "results/store/address.hh"
#include "results/store/postgres/schema.hh"
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
using testing_support::PostgresServer;

// How a store is reached.
enum class Kind { sqlite, postgres, pointer };

class Stores : public testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() {
    if (!PostgresServer::missing().empty()) return;
    server_ = std::make_unique<PostgresServer>();
    server_->make_database("suite");
    auto connection = Connection::open(*parse_postgres(server_->url("suite")), false);
    ASSERT_TRUE(connection) << connection.error().message;
    ASSERT_TRUE(init_store(*connection, {}));
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    address_ = scratch_.path() / "out";
    if (GetParam() == Kind::sqlite) return;
    if (!server_) GTEST_SKIP() << PostgresServer::missing();
    address_ = new_address(GetParam(), "out");
  }

  // A new place of this kind. In PostgreSQL each test has campaigns of its own.
  fs::path new_address(Kind kind, const std::string& name) {
    if (kind == Kind::sqlite) return scratch_.path() / name;
    const auto url = fmt::format("{}#{}.{}", server_->url("suite"), ++campaigns_, name);
    if (kind == Kind::postgres) return url;
    fs::create_directories(scratch_.path() / name);
    EXPECT_TRUE(write_pointer(scratch_.path() / name, *parse_postgres(url)));
    return scratch_.path() / name;
  }
  // What errors call it.
  std::string name() const { return GetParam() == Kind::sqlite ? "results.db" : "postgresql://owner@/suite?"; }

  TemporaryDirectory scratch_;
  fs::path address_;
  static std::unique_ptr<PostgresServer> server_;
  static int campaigns_;
};
std::unique_ptr<PostgresServer> Stores::server_;
int Stores::campaigns_ = 0;

TEST_P(Stores, KeepsWhatWasAdded) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  const auto store = Store::open(address_, OpenMode::read);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(to_json(*store->manifest()), to_json(campaign.manifest));
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), campaign.runs.size());
  for (std::size_t i = 0; i < runs->size(); ++i) EXPECT_EQ(to_json((*runs)[i]), to_json(campaign.runs[i]));
  EXPECT_EQ(store->facts()->size(), campaign.facts.size());
  if (!store->directory().empty()) {
    EXPECT_EQ(slurp(address_ / "manifest.json"), to_json(campaign.manifest) + "\n");
  }
}

TEST_P(Stores, IndexTellsResumeWhatItNeeds) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  const auto index = Store::open(address_, OpenMode::resume)->index();
  ASSERT_TRUE(index);
  ASSERT_EQ(index->size(), campaign.runs.size());
  const auto& run = campaign.runs[5];
  const auto& row = (*index)[5];
  EXPECT_EQ(row.run_id, run.run_id);
  EXPECT_EQ(row.cell_id, run.cell_id);
  EXPECT_EQ(row.repetition, run.repetition);
  EXPECT_EQ(row.status, run.status);
  EXPECT_EQ(row.finished, run.finished);
  EXPECT_EQ(row.metrics.at("latency"), run.nodes.at("client").metrics.at("latency").value);
}

TEST_P(Stores, ARunIsAddedOnce) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  auto store = Store::open(address_, OpenMode::resume);
  const auto again = store->add_run(campaign.runs[0]);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message,
              AllOf(HasSubstr(name()), HasSubstr("already there"), HasSubstr(campaign.runs[0].run_id)));
  EXPECT_EQ(store->runs()->size(), campaign.runs.size());
}

TEST_P(Stores, ADamagedHistogramIsRefusedAndLeavesNothing) {
  auto campaign = small();
  auto store = Store::open(address_, OpenMode::create);
  auto& run = campaign.runs[0];
  run.nodes["client"].metrics["latency"].distribution->buckets = {1, 2, 3};
  EXPECT_FALSE(store->add_run(run));
  EXPECT_TRUE(store->runs()->empty());
  EXPECT_TRUE(store->add_run(campaign.runs[1]));
}

TEST_P(Stores, AStartThatDiedBeforeItsManifestMayStartAgain) {
  { ASSERT_TRUE(Store::open(address_, OpenMode::create)); }
  EXPECT_EQ(refusal(address_, OpenMode::create), "opened");
  EXPECT_THAT(Store::open(address_, OpenMode::read)->manifest().error().message, HasSubstr("before it began"));
}

TEST_P(Stores, ReadersSeeRunsAsTheyAreCommitted) {
  const auto campaign = small();
  auto writer = Store::open(address_, OpenMode::create);
  ASSERT_TRUE(writer->save_manifest(campaign.manifest));
  const auto reader = Store::open(address_, OpenMode::read);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->runs()->size(), 0U);
  ASSERT_TRUE(writer->add_run(campaign.runs[0]));
  EXPECT_EQ(reader->runs()->size(), 1U);
}

TEST_P(Stores, AReaderCannotWrite) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  auto reader = Store::open(address_, OpenMode::read);
  auto run = campaign.runs[0];
  run.run_id = "other";
  EXPECT_FALSE(reader->add_run(run));
}

TEST_P(Stores, OneWriterAndAnyReaders) {
  ASSERT_TRUE(synthetic::write(small(), address_));
  const auto writer = Store::open(address_, OpenMode::resume);
  ASSERT_TRUE(writer);
  EXPECT_THAT(refusal(address_, OpenMode::resume), AllOf(HasSubstr("another longhaul"), HasSubstr("writes to it")));
  const auto reader = Store::open(address_, OpenMode::read);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->runs()->size(), 8U);
}

TEST_P(Stores, ACampaignIsMadeOnce) {
  EXPECT_FALSE(Store::open(address_, OpenMode::read));
  EXPECT_FALSE(Store::open(address_, OpenMode::resume));
  ASSERT_TRUE(synthetic::write(small(), address_));
  EXPECT_TRUE(holds_store(address_));
  EXPECT_THAT(refusal(address_, OpenMode::create), AllOf(HasSubstr("already"), HasSubstr("--resume")));
  EXPECT_EQ(refusal(address_, OpenMode::resume), "opened");
}

// One directory leads to one campaign.
TEST_P(Stores, ADirectoryLeadsToOnePlace) {
  if (GetParam() != Kind::postgres) GTEST_SKIP() << "of PostgreSQL alone";
  const auto address = *parse_postgres(address_.string());
  auto other = address;
  other.campaign += ".other";
  const auto directory = scratch_.path() / "leads";
  ASSERT_TRUE(Store::open_at(directory, address, OpenMode::create));
  EXPECT_TRUE(Store::open_at(directory, address, OpenMode::resume)) << "as often as one likes";
  EXPECT_TRUE(Store::open_at(scratch_.path() / "elsewhere", address, OpenMode::resume)) << "from anywhere";
  EXPECT_THAT(Store::open_at(directory, other, OpenMode::create).error().message, HasSubstr("leave --store out"));
  ASSERT_TRUE(Store::open(scratch_.path() / "plain", OpenMode::create));
  EXPECT_THAT(Store::open_at(scratch_.path() / "plain", other, OpenMode::create).error().message,
              HasSubstr("in results.db"));
}

TEST_P(Stores, AManifestIsReplaced) {
  auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  {
    auto store = Store::open(address_, OpenMode::resume);
    campaign.manifest.wall = 17;
    ASSERT_TRUE(store->save_manifest(campaign.manifest));
  }
  EXPECT_EQ(Store::open(address_, OpenMode::read)->manifest()->wall, 17);
}

// Quotes, line feeds, characters of other alphabets, numbers at their limits.
TEST_P(Stores, WhatIsHardToWriteComesBack) {
  auto campaign = small();
  campaign.manifest.description = "a 'quoted' \"word\"\n\t\\ {1,2} \u00e4\u4e2d $1 %s";
  auto& run = campaign.runs[0];
  run.message = campaign.manifest.description;
  run.status = Status::failed;
  run.started = std::numeric_limits<std::int64_t>::max();
  run.finished = std::numeric_limits<std::int64_t>::min();
  {
    auto store = Store::open(address_, OpenMode::create);
    ASSERT_TRUE(store->save_manifest(campaign.manifest));
    const auto added = store->add_run(run);
    ASSERT_TRUE(added) << added.error().message;
  }
  const auto store = Store::open(address_, OpenMode::read);
  EXPECT_EQ(to_json(*store->manifest()), to_json(campaign.manifest));
  EXPECT_EQ(to_json(store->runs()->front()), to_json(run));
  EXPECT_EQ(store->index()->front().started, run.started);
  EXPECT_EQ(store->index()->front().finished, run.finished);
  EXPECT_EQ(store->index()->front().status, Status::failed);
}

// To every kind and back: what comes back is what went, document by document.
TEST_P(Stores, AreCopiedWithoutLoss) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, address_));
  const auto from = Store::open(address_, OpenMode::read);
  for (const auto kind : {Kind::sqlite, Kind::postgres, Kind::pointer}) {
    if (kind != Kind::sqlite && !server_) continue;
    const auto there = new_address(kind, fmt::format("there{}", static_cast<int>(kind)));
    {
      auto to = Store::open(there, OpenMode::create);
      ASSERT_TRUE(to) << to.error().message;
      const auto copied = from->copy_to(*to);
      ASSERT_TRUE(copied) << copied.error().message;
      EXPECT_EQ(*copied, campaign.runs.size());
    }
    const auto copy = Store::open(there, OpenMode::read);
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(to_json(*copy->manifest()), to_json(campaign.manifest));
    const auto runs = copy->runs();
    ASSERT_EQ(runs->size(), campaign.runs.size());
    for (std::size_t i = 0; i < runs->size(); ++i) EXPECT_EQ(to_json((*runs)[i]), to_json((*from->runs())[i]));
    EXPECT_EQ(copy->facts()->size(), campaign.facts.size());
    const auto before = from->index(), after = copy->index();
    for (std::size_t i = 0; i < before->size(); ++i) {
      EXPECT_EQ((*after)[i].metrics, (*before)[i].metrics);
      EXPECT_EQ((*after)[i].digest, (*before)[i].digest);
    }
  }
}

TEST_P(Stores, ACopyThatWasInterruptedIsGoneOnWith) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, scratch_.path() / "from"));
  const auto from = Store::open(scratch_.path() / "from", OpenMode::read);
  {
    auto to = Store::open(address_, OpenMode::create);
    ASSERT_TRUE(to->add_run(campaign.runs[0]));
    ASSERT_TRUE(to->add_run(campaign.runs[1]));
  }
  EXPECT_FALSE(Store::open(address_, OpenMode::read)->manifest());
  auto to = Store::open(address_, OpenMode::resume);
  EXPECT_EQ(*from->copy_to(*to), campaign.runs.size() - 2);
  EXPECT_EQ(to->runs()->size(), campaign.runs.size());
  EXPECT_TRUE(to->manifest());
}

INSTANTIATE_TEST_SUITE_P(All, Stores, testing::Values(Kind::sqlite, Kind::postgres, Kind::pointer),
                         [](const auto& kind) -> std::string {
                           switch (kind.param) {
                             case Kind::sqlite:
                               return "SQLite";
                             case Kind::postgres:
                               return "PostgreSQL";
                             case Kind::pointer:
                               return "ADirectoryThatLeadsToPostgreSQL";
                           }
                           return "";
                         });

}  // namespace
}  // namespace longhaul::results
