// What a PostgreSQL store alone has: addresses, rights, TLS, a server that goes away, many writers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>
#include <thread>

#include "results/store/postgres/backend.hh"
#include "results/store/postgres/schema.hh"
#include "results/store/row.hh"
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

TEST(PostgresAddress, HidesPasswords) {
  const auto shown = [](std::string_view text) { return parse_postgres(text)->text(); };
  EXPECT_EQ(shown("postgresql://h/lab#quick"), "postgresql://h/lab#quick");
  EXPECT_EQ(shown("postgresql://me:secret@h:5433/lab#a/b.1"), "postgresql://me@h:5433/lab#a/b.1");
  EXPECT_EQ(shown("postgresql://me:se@cret@h/lab"), "postgresql://me@h/lab");
  EXPECT_EQ(shown("postgres://h/lab?password=secret&sslmode=require&sslpassword=x#c"),
            "postgres://h/lab?sslmode=require#c");
  EXPECT_EQ(shown("postgresql://me:se?cr&password=et@h/lab"), "postgresql://me@h/lab") << "as libpq reads it";
  EXPECT_EQ(shown("postgresql://?pass%77ord=a/b&user=me@realm&host=/tmp"), "postgresql://?user=me%40realm&host=/tmp")
      << "not a user called ?user=me";
  EXPECT_EQ(shown("postgresql://h/lab?port=1&&pass%77ord=secret&"), "postgresql://h/lab?port=1");
  EXPECT_EQ(shown("postgresql://h/lab?pass%77ord=secret"), "postgresql://h/lab");
  EXPECT_EQ(shown("postgresql://"), "postgresql://");
  EXPECT_EQ(shown("postgresql://?host=/tmp&port=1#c"), "postgresql://?host=/tmp&port=1#c");
  EXPECT_EQ(shown_address("postgresql://me:secret@h/lab#quick"), "postgresql://me@h/lab#quick");
  EXPECT_EQ(shown_address("out/quick"), "out/quick");
  EXPECT_EQ(parse_postgres("postgresql://me:secret@h/lab#quick")->url, "postgresql://me:secret@h/lab");
}

TEST(PostgresAddress, RefusesWhatIsNone) {
  const auto wrong = [](std::string_view text) { return parse_postgres(text).error().message; };
  EXPECT_THAT(wrong("out/quick"), AllOf(HasSubstr("out/quick"), HasSubstr("expected such as postgresql://")));
  EXPECT_THAT(wrong("postgresql://me:secret@h/lab#a b"),
              AllOf(HasSubstr("'a b' cannot be a campaign's name"), Not(HasSubstr("secret"))));
  EXPECT_THAT(wrong("postgresql://h/lab#"), HasSubstr("cannot be a campaign's name"));
  EXPECT_FALSE(is_postgres("postgresql.db"));
}

TEST(PostgresAddress, APointerKeepsNoPassword) {
  const TemporaryDirectory scratch;
  EXPECT_FALSE(*read_pointer(scratch.path()));
  ASSERT_TRUE(write_pointer(scratch.path(), *parse_postgres("postgresql://me:secret@h/lab#quick")));
  EXPECT_EQ((*read_pointer(scratch.path()))->text(), "postgresql://me@h/lab#quick");
  std::ofstream{scratch.path() / "store"} << "postgresql://h/lab?sslmode=require&passfile=/etc/shadow#quick\n";
  EXPECT_THAT(read_pointer(scratch.path()).error().message, HasSubstr("'passfile' is no option that a file may set"));
  std::ofstream{scratch.path() / "store"} << "postgresql://h/lab?sslmode=require#quick\n";
  EXPECT_TRUE(*read_pointer(scratch.path()));
  std::ofstream{scratch.path() / "store"} << "nonsense\n";
  EXPECT_THAT(read_pointer(scratch.path()).error().message, AllOf(HasSubstr("/store: "), HasSubstr("nonsense")));
}

TEST(PostgresError, NamesARemedy) {
  const auto said = [](std::string_view state, std::string_view detail = "it\nsays\n") {
    return postgres_error("postgresql://h/lab", state, detail).value().message;
  };
  EXPECT_THAT(said("53100"), AllOf(HasSubstr("no space left"), HasSubstr("--resume"), HasSubstr("(it says)")));
  EXPECT_THAT(said("42501"), HasSubstr("store init URL --writer"));
  EXPECT_THAT(said("28P01"), HasSubstr("~/.pgpass"));
  EXPECT_THAT(said("57P01"), HasSubstr("no answer from the server"));
  EXPECT_THAT(said("53300"), HasSubstr("max_connections"));
  EXPECT_THAT(said("22003"), HasSubstr("the server says 22003"));
  EXPECT_EQ(array_of({"a", "b\"\\c", "1e300"}), R"({"a","b\"\\c","1e300"})");
}

class Postgres : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!PostgresServer::missing().empty()) return;
    server_ = std::make_unique<PostgresServer>(std::getenv("LONGHAUL_STORE_RECORDS") != nullptr);
    server_->make_database("lab");
    server_->sql("lab", "CREATE ROLE writer LOGIN PASSWORD 'word'; CREATE ROLE reader LOGIN; CREATE ROLE nobody LOGIN");
    auto connection = Connection::open(address("lab"), false);
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_TRUE(*init_store(*connection, {.writers = {"writer"}, .readers = {"reader"}}));
    EXPECT_FALSE(*init_store(*connection, {}));  // again: nothing to do
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_) GTEST_SKIP() << PostgresServer::missing();
  }

  static PostgresAddress address(const std::string& database, const std::string& role = "owner",
                                 const std::string& campaign = {}) {
    return {.url = server_->url(database, role), .campaign = campaign};
  }
  static std::string at(const std::string& campaign, const std::string& role = "writer") {
    return server_->url("lab", role) + "#" + campaign;
  }
  static std::int64_t number(const char* sql) {
    auto connection = Connection::open(address("lab"), true);
    return connection->run(sql)->integer(0, 0);
  }
  static std::unique_ptr<PostgresServer> server_;
};
std::unique_ptr<PostgresServer> Postgres::server_;

TEST_F(Postgres, WhatIsMissingIsSaid) {
  EXPECT_THAT(refusal("postgresql:///lab?host=/nonexistent#x", OpenMode::read), HasSubstr("no answer from the server"));
  EXPECT_THAT(refusal(server_->url("none") + "#x", OpenMode::read),
              AllOf(HasSubstr("there is no such database"), HasSubstr("createdb")));
  EXPECT_THAT(refusal(server_->url("postgres") + "#x", OpenMode::read),
              AllOf(HasSubstr("there is no store"), HasSubstr("store init")));
  EXPECT_THAT(refusal(at("none"), OpenMode::read),
              AllOf(HasSubstr("no campaign of this name"), HasSubstr("store list")));
  EXPECT_THAT(refusal(at("none"), OpenMode::resume), HasSubstr("no campaign of this name"));
  EXPECT_THAT(refusal(server_->url("lab"), OpenMode::read), HasSubstr("names no campaign"));
  EXPECT_THAT(refusal(server_->url("lab", "stranger") + "#x", OpenMode::read), HasSubstr("does not let you in"));
  EXPECT_THAT(refusal("postgresql://h/lab?no_such_option=1#x", OpenMode::read), HasSubstr("no_such_option"));
  auto connection = Connection::open(address("lab"), false);
  EXPECT_THAT(init_store(*connection, {.readers = {"nn"}}).error().message, HasSubstr("no such role"));
}

TEST_F(Postgres, ANewerSchemaIsLeftAlone) {
  server_->make_database("newer");
  auto connection = Connection::open(address("newer"), false);
  ASSERT_TRUE(*init_store(*connection, {}));
  server_->sql("newer", "UPDATE longhaul.store SET schema = 99");
  EXPECT_THAT(init_store(*connection, {}).error().message, HasSubstr("schema 99 is newer"));
  for (const auto mode : {OpenMode::create, OpenMode::resume, OpenMode::read})
    EXPECT_THAT(refusal(server_->url("newer") + "#x", mode),
                AllOf(HasSubstr("schema 99"), HasSubstr("use the longhaul")));
  server_->sql("newer", "UPDATE longhaul.store SET schema = 0");
  EXPECT_THAT(refusal(server_->url("newer") + "#x", OpenMode::read), HasSubstr("there is no store"));
}

TEST_F(Postgres, AnotherEncodingIsRefused) {
  server_->make_database("latin", "ENCODING 'LATIN1' TEMPLATE template0");
  auto connection = Connection::open(address("latin"), false);
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_THAT(init_store(*connection, {}).error().message, AllOf(HasSubstr("LATIN1"), HasSubstr("createdb -E UTF8")));
}

TEST_F(Postgres, AWriterOnlyAdds) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, at("rights")));
  auto connection = Connection::open(address("lab", "writer"), false);
  for (const auto* sql :
       {"UPDATE longhaul.runs SET status = 'ok'", "DELETE FROM longhaul.runs", "DELETE FROM longhaul.metrics",
        "UPDATE longhaul.manifests SET document = ''", "TRUNCATE longhaul.facts", "DROP TABLE longhaul.runs",
        "UPDATE longhaul.store SET schema = 7"}) {
    EXPECT_FALSE(connection->run(sql)) << sql;
    EXPECT_EQ(connection->state(), "42501") << sql;
  }
  EXPECT_EQ(Store::open(at("rights", "reader"), OpenMode::read)->runs()->size(), campaign.runs.size());
  for (const auto mode : {OpenMode::create, OpenMode::resume})
    EXPECT_THAT(refusal(at("rights", "reader"), mode), AllOf(HasSubstr("not the right"), HasSubstr("--writer")));
  EXPECT_THAT(refusal(at("rights", "nobody"), OpenMode::read), HasSubstr("not the right"));
  EXPECT_THAT(check_free(*parse_postgres(at("free", "reader"))).error().message, HasSubstr("not the right"));
  EXPECT_TRUE(check_free(*parse_postgres(at("free"))));
  EXPECT_THAT(check_free(*parse_postgres(at("rights"))).error().message, HasSubstr("already"));
  EXPECT_EQ(number("SELECT count(*) FROM longhaul.campaigns WHERE name = 'free'"), 0);
}

// A stranger with the right to make tables of his own cannot stand in for ours.
TEST_F(Postgres, NobodysTablesStandInForOurs) {
  server_->sql("lab",
               "CREATE SCHEMA \"writer\"; CREATE TABLE \"writer\".campaigns (x int); CREATE FUNCTION "
               "\"writer\".to_regclass(text) RETURNS text LANGUAGE sql AS $$ SELECT 'theirs' $$; "
               "ALTER ROLE writer SET search_path = 'writer', pg_catalog");
  ASSERT_TRUE(synthetic::write(small(), at("shadowed")));
  server_->sql("lab", "ALTER ROLE writer RESET search_path");
}

TEST_F(Postgres, TheServerMustProveItsName) {
  // By TCP: "localhost" is not thought of as another machine, so the check is asked for.
  ASSERT_TRUE(synthetic::write(small(), at("tls")));
  ::setenv("PGPASSWORD", "word", 1);
  const auto by = [](const std::string& options) {
    return refusal(server_->tcp_url("lab", "writer", options) + "#tls", OpenMode::read);
  };
  EXPECT_EQ(by("sslmode=verify-full&sslrootcert=" + server_->ca().string()), "opened");
  EXPECT_THAT(by("sslmode=verify-full&sslrootcert=/nonexistent"), HasSubstr("certificate"));
  const TemporaryDirectory other;
  run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-subj", "/CN=another CA", "-keyout", other.path() / "ca.key", "-out", other.path() / "ca.pem"});
  EXPECT_THAT(by("sslmode=verify-full&sslrootcert=" + (other.path() / "ca.pem").string()),
              HasSubstr("certificate verify failed"));
  ::setenv("PGPASSWORD", "wrong", 1);
  EXPECT_THAT(by("sslmode=require"), AllOf(HasSubstr("does not let you in"), HasSubstr("~/.pgpass")));
  ::unsetenv("PGPASSWORD");
  // Another machine: without a word the name is checked.
  EXPECT_THAT(refusal("postgresql://127.0.0.2:1/lab#x", OpenMode::read), HasSubstr("no answer"));
}

// Each session is ended while its writer is idle, and the whole server is started again between two runs.
TEST_F(Postgres, AServerThatIsRestartedLosesNothing) {
  const auto campaign = small();
  auto store = Store::open(at("restart"), OpenMode::create);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(store->save_manifest(campaign.manifest));
  ASSERT_TRUE(store->add_run(campaign.runs[0]));
  server_->sql("lab", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'writer'");
  auto added = store->add_run(campaign.runs[1]);
  EXPECT_TRUE(added) << added.error().message;
  server_->stop();
  std::thread operator_{[] {
    std::this_thread::sleep_for(std::chrono::seconds{1});
    server_->start();
  }};
  added = store->add_run(campaign.runs[2]);
  EXPECT_TRUE(added) << added.error().message;
  operator_.join();
  EXPECT_EQ(Store::open(at("restart"), OpenMode::read)->runs()->size(), 3U);
  // Its lock came back with it.
  EXPECT_THAT(refusal(at("restart"), OpenMode::resume), HasSubstr("another longhaul"));
}

TEST_F(Postgres, AServerThatStaysAwayIsSaid) {
  const auto campaign = small();
  const auto backend = open_postgres(*parse_postgres(at("away")), OpenMode::create, std::chrono::seconds{1});
  ASSERT_TRUE(backend) << backend.error().message;
  ASSERT_TRUE((*backend)->add_run(*row_of(campaign.runs[0])));
  server_->stop();
  const auto added = (*backend)->add_run(*row_of(campaign.runs[1]));
  server_->start();
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, AllOf(HasSubstr("no answer from the server"), HasSubstr("is kept")));
  EXPECT_EQ(added.error().exit_code, ExitCode::failure);
  // The store stays usable: the server is back.
  const auto again = (*backend)->add_run(*row_of(campaign.runs[1]));
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_EQ((*backend)->index()->size(), 2U);
}

// The answer to a commit was lost: the run is there, and the writer does not know.
TEST_F(Postgres, ARunWhoseAnswerWasLostIsNotADouble) {
  const auto campaign = small();
  auto store = Store::open(at("answer"), OpenMode::create);
  ASSERT_TRUE(store->add_run(campaign.runs[0]));
  // As if: the session ends before the second try, which finds the run there.
  server_->sql("lab", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'writer'");
  const auto again = store->add_run(campaign.runs[0]);
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_EQ(store->runs()->size(), 1U);
  EXPECT_THAT(store->add_run(campaign.runs[0]).error().message, HasSubstr("already there"));
}

// LONGHAUL_STORE_RECORDS=1000000: so many records of 50 writers (docs/performance.md); without it a few hundred of 12.
TEST_F(Postgres, ManyWritersLoseNothing) {
  const char* asked = std::getenv("LONGHAUL_STORE_RECORDS");
  const std::size_t writers = asked != nullptr ? 50 : 12;
  const auto records = asked != nullptr ? std::stoul(asked) / writers : 30;
  auto campaign = small();
  auto run = campaign.runs[0];
  for (auto& [node, record] : run.nodes)
    for (auto& [name, metric] : record.metrics) metric.distribution.reset();
  std::atomic<std::size_t> failures = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < writers; ++i)
    threads.emplace_back([&, i, mine = run]() mutable {
      auto store = Store::open(at(fmt::format("many.{}", i)), OpenMode::create);
      if (!store || !store->save_manifest(campaign.manifest)) ++failures;
      for (std::size_t k = 0; store && k < records; ++k) {
        mine.run_id = fmt::format("{}/{}/0", mine.cell_id, k);
        mine.repetition = static_cast<int>(k);
        if (!store->add_run(mine)) ++failures;
      }
    });
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(failures, 0U);
  for (std::size_t i = 0; i < writers; ++i) {
    const auto index = Store::open(at(fmt::format("many.{}", i)), OpenMode::read)->index();
    ASSERT_EQ(index->size(), records);
    for (std::size_t k = 0; k < records; ++k) ASSERT_EQ((*index)[k].repetition, static_cast<int>(k));
  }
  if (asked == nullptr) return;
  // The first page: what the store holds, and a campaign's report, which has no more to do than to read it.
  const auto list_begin = std::chrono::steady_clock::now();
  const auto listed = list_campaigns(*parse_postgres(server_->url("lab")));
  const std::chrono::duration<double> list_took = std::chrono::steady_clock::now() - list_begin;
  ASSERT_TRUE(synthetic::write(small(), at("beside")));
  const auto read_begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Store::open(at("beside"), OpenMode::read)->runs()->size(), small().runs.size());
  const std::chrono::duration<double> read_took = std::chrono::steady_clock::now() - read_begin;
  fmt::print("{} records of {} bytes by {} writers: {:.0f} a second; list {:.2f} s, a campaign beside them {:.3f} s\n",
             writers * records, to_json(run).size(), writers, static_cast<double>(writers * records) / took.count(),
             list_took.count(), read_took.count());
}

TEST_F(Postgres, AFullServerIsSaidAndKeepsWhatWasCommitted) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root";
  const TemporaryDirectory disk;
  const struct Unmounted {
    const fs::path& path;
    ~Unmounted() { ::umount2(path.c_str(), MNT_DETACH); }
  } unmounted{disk.path()};
  if (::mount("tmpfs", disk.path().c_str(), "tmpfs", 0, "size=24m,mode=0777") != 0)
    GTEST_SKIP() << "cannot mount a small file system";
  const auto space = disk.path() / "space";
  fs::create_directory(space);
  EXPECT_EQ(::chown(space.c_str(), 65534, 65534), 0);
  server_->sql("postgres", fmt::format("CREATE TABLESPACE small LOCATION '{}'", space.string()));
  // As files, so that no block is missing that must be written later; and one that can be freed.
  server_->make_database("small", "TABLESPACE small STRATEGY file_copy");
  std::ofstream{disk.path() / "other"} << std::string(4 << 20, 'x');
  {
    auto connection = Connection::open(address("small"), false);
    ASSERT_TRUE(init_store(*connection, {}));
  }
  auto campaign = small();
  const auto where = server_->url("small") + "#full";
  auto store = Store::open(where, OpenMode::create);
  ASSERT_TRUE(store->save_manifest(campaign.manifest));
  std::size_t kept = 0;
  Result<void> added;
  auto run = campaign.runs[0];
  std::uint64_t seed = 1;
  // What does not compress.
  for (char& c : run.message.assign(4 << 20, 'x'))
    c = static_cast<char>('0' + ((seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 33) % 64);
  while (added && kept < 40) {
    run.run_id = fmt::format("full/{}", kept);
    added = store->add_run(run);
    if (added) ++kept;
  }
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, AllOf(HasSubstr("no space left on the server"), HasSubstr("--resume")));
  fs::remove(disk.path() / "other");
  const auto index = store->index();
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->size(), kept);
  run.message = "small";
  added = store->add_run(run);
  EXPECT_TRUE(added) << added.error().message;
  store = fail("closed");
  server_->sql("postgres", "DROP DATABASE small WITH (FORCE)");
  server_->sql("postgres", "DROP TABLESPACE small");
}

TEST_F(Postgres, TheViewsSayWhatIsThere) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, at("views")));
  EXPECT_EQ(number("SELECT runs FROM longhaul.overview WHERE campaign = 'views'"),
            static_cast<std::int64_t>(campaign.runs.size()));
  EXPECT_GT(
      number("SELECT count(*) FROM longhaul.figures WHERE campaign = 'views' AND metric = 'latency' AND value > 0 "
             "AND parameters <> '{}'"),
      0);
  EXPECT_EQ(number("SELECT count(*) FROM longhaul.versions WHERE campaign = 'views' AND version <> ''"), 1);
  const auto listed = list_campaigns(*parse_postgres(server_->url("lab", "reader")));
  ASSERT_TRUE(listed) << listed.error().message;
  const auto one = std::find_if(listed->begin(), listed->end(), [](const auto& row) { return row.name == "views"; });
  ASSERT_NE(one, listed->end());
  EXPECT_EQ(one->runs, static_cast<std::int64_t>(campaign.runs.size()));
  EXPECT_THAT(one->last_run, testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

}  // namespace
}  // namespace longhaul::results
