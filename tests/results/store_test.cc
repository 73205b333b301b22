#include "results/store/store.hh"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "common/replace_file.hh"
#include "results/store/sqlite/backend.hh"
#include "results/store/sqlite/database.hh"
#include "results/store/sqlite/schema.hh"
#include "tests/results/small.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

void spill(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

class StoreTest : public testing::Test {
 protected:
  TemporaryDirectory scratch_;
  fs::path dir_ = scratch_.path() / "out";
};

TEST_F(StoreTest, ModesTellWhatIsThere) {
  EXPECT_THAT(refusal(dir_, OpenMode::read), AllOf(HasSubstr("no such file"), HasSubstr("longhaul run --out")));
  EXPECT_THAT(refusal(dir_, OpenMode::resume), HasSubstr("no such file"));
  ASSERT_TRUE(synthetic::write(small(), dir_));
  EXPECT_THAT(refusal(dir_, OpenMode::create), AllOf(HasSubstr("already holds a campaign"), HasSubstr("--resume")));
  EXPECT_EQ(refusal(dir_, OpenMode::resume), "opened");
}

TEST_F(StoreTest, OneWriterAndAnyReaders) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  const auto writer = Store::open(dir_, OpenMode::resume);
  ASSERT_TRUE(writer);
  EXPECT_THAT(refusal(dir_, OpenMode::resume),
              AllOf(HasSubstr("another longhaul"), HasSubstr(std::to_string(::getpid()))));
  const auto reader = Store::open(dir_, OpenMode::read);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->runs()->size(), 8U);
}

TEST_F(StoreTest, NewerSchemaIsRefusedUntouched) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  {
    auto database = Database::open((dir_ / "results.db").string(), "x", SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database->execute("PRAGMA user_version = 99"));
  }
  const auto before = slurp(dir_ / "results.db");
  for (const auto mode : {OpenMode::create, OpenMode::resume, OpenMode::read})
    EXPECT_THAT(refusal(dir_, mode),
                AllOf(HasSubstr("results.db"), HasSubstr("schema 99 is newer"), HasSubstr("use the longhaul")));
  EXPECT_EQ(slurp(dir_ / "results.db"), before);
}

// golden/store-v1.db was written by schema 1, which had no metrics index.
TEST_F(StoreTest, OlderSchemaIsUpgradedInPlaceForWriting) {
  fs::create_directories(dir_);
  fs::copy(fs::path{LONGHAUL_SOURCE_DIR} / "tests/results/golden/store-v1.db", dir_ / "results.db");
  auto store = Store::open(dir_, OpenMode::resume);
  ASSERT_TRUE(store) << store.error().message;
  const auto index = store->index();
  ASSERT_EQ(index->size(), 8U);
  for (const auto& row : *index) EXPECT_GT(row.metrics.at("latency"), 0) << row.run_id;
  EXPECT_EQ(store->manifest()->name, "quick");
  EXPECT_EQ(store->facts()->size(), 3U);
  auto run = store->runs()->front();
  run.run_id = "another";
  EXPECT_TRUE(store->add_run(run));
  store = Store::open(scratch_.path() / "elsewhere", OpenMode::create);  // releases the first
  EXPECT_EQ(Store::open(dir_, OpenMode::read)->index()->size(), 9U);
}

TEST_F(StoreTest, OlderSchemaIsReadWithoutBeingChanged) {
  fs::create_directories(dir_);
  fs::copy(fs::path{LONGHAUL_SOURCE_DIR} / "tests/results/golden/store-v1.db", dir_ / "results.db");
  const auto before = slurp(dir_ / "results.db");
  const auto store = Store::open(dir_, OpenMode::read);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->index()->front().metrics.size(), 1U);
  EXPECT_EQ(slurp(dir_ / "results.db"), before);
}

TEST_F(StoreTest, IndexIsRebuiltFromTheDocuments) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  const auto index_text = [&] {
    std::string text;
    const auto index = Store::open(dir_, OpenMode::read)->index();
    for (const auto& row : *index)
      for (const auto& [name, value] : row.metrics) text += fmt::format("{} {} {}\n", row.run_id, name, value);
    return text;
  };
  const auto before = index_text();
  {
    auto database = Database::open((dir_ / "results.db").string(), "x", SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database->execute("UPDATE metrics SET value = 1"));
  }
  EXPECT_NE(index_text(), before);
  {
    auto database = Database::open((dir_ / "results.db").string(), "x", SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(fill_index(*database));
  }
  EXPECT_EQ(index_text(), before);
}

TEST_F(StoreTest, NotADatabase) {
  fs::create_directories(dir_);
  spill(dir_ / "results.db", std::string(5000, 'x'));
  for (const auto mode : {OpenMode::create, OpenMode::resume, OpenMode::read})
    EXPECT_THAT(refusal(dir_, mode), AllOf(HasSubstr("results.db"), HasSubstr("not a database of longhaul")));
}

// A start that was killed as it made the file: --resume goes on, as does a start anew.
TEST_F(StoreTest, AFileThatHoldsNothingYetIsGoneOnWith) {
  for (const auto mode : {OpenMode::resume, OpenMode::create}) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    spill(dir_ / "results.db", "");
    EXPECT_THAT(refusal(dir_, OpenMode::read), HasSubstr("holds no campaign"));
    auto store = Store::open(dir_, mode);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE(store->index()->empty());
    ASSERT_TRUE(store->save_manifest(small().manifest));
    EXPECT_TRUE(store->manifest());
  }
  spill(dir_ / "results.db", "");
  EXPECT_THAT(refusal(dir_, OpenMode::resume), HasSubstr("manifest.json says that a campaign was here"));
  fs::remove(dir_ / "results.db");
  EXPECT_NE(refusal(dir_, OpenMode::resume), "opened") << "where nothing began there is nothing to go on with";
}

TEST_F(StoreTest, SomebodyElsesDatabaseIsLeftAlone) {
  fs::create_directories(dir_);
  {
    auto database = Database::open((dir_ / "results.db").string(), "x", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(database->execute("CREATE TABLE bookmarks (url TEXT)"));
  }
  const auto before = slurp(dir_ / "results.db");
  for (const auto mode : {OpenMode::create, OpenMode::resume, OpenMode::read})
    EXPECT_THAT(refusal(dir_, mode), HasSubstr("not one of longhaul's"));
  EXPECT_EQ(slurp(dir_ / "results.db"), before);
}

TEST_F(StoreTest, DamageIsFoundAndNamed) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  auto bytes = slurp(dir_ / "results.db");
  // The first page stays: the file still looks like a database.
  for (std::size_t i = 4096 + 100; i < bytes.size(); i += 512) bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
  for (std::size_t i = 4096; i < bytes.size(); i += 4096) bytes[i] = 'Z';
  spill(dir_ / "results.db", bytes);
  for (const auto mode : {OpenMode::resume, OpenMode::read})
    EXPECT_THAT(refusal(dir_, mode), AllOf(HasSubstr("results.db"), HasSubstr("damaged"), HasSubstr(".recover")));
}

TEST_F(StoreTest, ATruncatedFileIsDamaged) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  fs::resize_file(dir_ / "results.db", fs::file_size(dir_ / "results.db") / 2);
  EXPECT_THAT(refusal(dir_, OpenMode::read), HasSubstr("damaged"));
}

TEST_F(StoreTest, UnreadableIsSaid) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  fs::permissions(dir_ / "results.db", fs::perms::none);
  const int code = in_child([&] {
    if (!become_unprivileged()) return 2;
    const auto text = refusal(dir_, OpenMode::read);
    return text.find("results.db") != std::string::npos &&
                   text.find("cannot be opened (Permission denied)") != std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(code, 0);
}

TEST_F(StoreTest, ReadsFromADirectoryThatCannotBeWritten) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  fs::permissions(dir_, fs::perms{0555});
  fs::permissions(dir_ / "results.db", fs::perms{0444});
  const int code = in_child([&] {
    if (!become_unprivileged()) return 2;
    const auto store = Store::open(dir_, OpenMode::read);
    return store && store->runs() && store->runs()->size() == 8 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  fs::permissions(dir_, fs::perms{0755});
}

TEST_F(StoreTest, AWriterThatWasKilledLosesNothingCommitted) {
  const auto campaign = synthetic::campaign({.delays_ns = {0, 1'000'000}, .sizes = {64}, .runs = 40, .samples = 50});
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(dir_, OpenMode::create);
    if (!store || !store->save_manifest(campaign.manifest)) ::_exit(1);
    for (const auto& run : campaign.runs) {
      if (!store->add_run(run)) ::_exit(1);
      const char done = '.';
      if (::write(pipe_ends[1], &done, 1) != 1) ::_exit(1);
    }
    ::pause();
  }
  ::close(pipe_ends[1]);
  std::size_t acknowledged = 0;
  char byte = 0;
  while (acknowledged < 25 && ::read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  ::kill(child, SIGKILL);
  while (::read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
  ::waitpid(child, nullptr, 0);
  ::close(pipe_ends[0]);
  ASSERT_GE(acknowledged, 25U);

  for (const auto mode : {OpenMode::read, OpenMode::resume}) {
    const auto store = Store::open(dir_, mode);
    ASSERT_TRUE(store) << store.error().message;
    const auto runs = store->runs();
    ASSERT_TRUE(runs) << runs.error().message;
    // One more than it told of may have been committed, never less, and never a part of one.
    EXPECT_GE(runs->size(), acknowledged);
    EXPECT_LE(runs->size(), acknowledged + 1);
    for (std::size_t i = 0; i < runs->size(); ++i) EXPECT_EQ((*runs)[i].run_id, campaign.runs[i].run_id);
    EXPECT_EQ(store->index()->size(), runs->size());
  }
}

// A mount namespace of our own: as root, or as the root of a user namespace of our own.
bool own_mounts() {
  const auto user = ::geteuid(), group = ::getegid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    spill("/proc/self/setgroups", "deny");
    spill("/proc/self/uid_map", fmt::format("0 {} 1", user));
    spill("/proc/self/gid_map", fmt::format("0 {} 1", group));
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// A file system of 1 MiB.
TEST_F(StoreTest, ADiskThatIsFullLosesNothingCommitted) {
  const auto campaign = synthetic::campaign({.runs = 6});
  const int code = in_child([&] {
    fs::create_directories(dir_);
    if (!own_mounts() || ::mount("tmpfs", dir_.c_str(), "tmpfs", 0, "size=1m") != 0) return 77;
    std::size_t kept = 0;
    {
      auto store = Store::open(dir_, OpenMode::create);
      if (!store || !store->save_manifest(campaign.manifest)) return 1;
      for (const auto& run : campaign.runs) {
        const auto added = store->add_run(run);
        if (added) {
          ++kept;
          continue;
        }
        if (added.error().message.find("no space left") == std::string::npos ||
            added.error().message.find("--resume") == std::string::npos) {
          fmt::print(stderr, "{}\n", added.error().message);
          return 2;
        }
        break;
      }
      if (kept == 0 || kept == campaign.runs.size()) return 3;
      if (!store->runs() || store->runs()->size() != kept) return 4;
    }
    const auto store = Store::open(dir_, OpenMode::read);
    return store && store->runs()->size() == kept ? 0 : 5;
  });
  if (code == 77) GTEST_SKIP() << "this kernel lets us have no mount namespace of our own";
  EXPECT_EQ(code, 0);
}

TEST_F(StoreTest, AFileIsReplacedWholeOrNotAtAll) {
  fs::create_directories(dir_);
  ASSERT_TRUE(replace_file(dir_ / "file", "old"));
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto failed = replace_file(dir_ / "file", std::string(1000, 'n'));
    return !failed && failed.error().message.find("file: cannot be written: File too large") != std::string::npos ? 0
                                                                                                                  : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(slurp(dir_ / "file"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator{dir_}, {}), 1);
  ASSERT_TRUE(replace_file(dir_ / "file", "new", 0600));
  EXPECT_EQ(fs::status(dir_ / "file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(StoreTest, ALinkInThePlaceOfTheNewFileIsRefused) {
  fs::create_directories(dir_);
  spill(scratch_.path() / "victim", "mine");
  const auto beside = dir_ / fmt::format("file.{}.new", ::gettid());
  fs::create_symlink(scratch_.path() / "victim", beside);
  const auto failed = replace_file(dir_ / "file", "theirs");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, AllOf(HasSubstr(beside.string() + ": a symbolic link"), HasSubstr("remove it")));
  EXPECT_EQ(slurp(scratch_.path() / "victim"), "mine");
  EXPECT_FALSE(fs::exists(dir_ / "file"));
  fs::remove(beside);
  fs::create_directory(beside);
  EXPECT_THAT(replace_file(dir_ / "file", "theirs").error().message, HasSubstr("something that is no file"));
  fs::remove(beside);
  // What a killed writer left is no obstacle, and lends the new file neither its bytes nor its permissions.
  spill(beside, "half of an old");
  fs::permissions(beside, fs::perms{0666});
  ASSERT_TRUE(replace_file(dir_ / "file", "new", 0600));
  EXPECT_EQ(slurp(dir_ / "file"), "new");
  EXPECT_EQ(fs::status(dir_ / "file").permissions(), fs::perms{0600});
}

TEST_F(StoreTest, ALinkInThePlaceOfTheFileIsReplacedItself) {
  fs::create_directories(dir_);
  spill(scratch_.path() / "victim", "mine");
  fs::create_symlink(scratch_.path() / "victim", dir_ / "file");
  ASSERT_TRUE(replace_file(dir_ / "file", "new"));
  EXPECT_EQ(slurp(scratch_.path() / "victim"), "mine");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir_ / "file")));
}

TEST_F(StoreTest, ALinkInThePlaceOfTheLockIsRefused) {
  const auto victim = scratch_.path() / "victim";
  const auto lock = dir_ / ".results.lock";
  fs::create_directories(dir_);
  spill(victim, "mine");
  for (const bool symbolic : {true, false}) {
    symbolic ? fs::create_symlink(victim, lock) : fs::create_hard_link(victim, lock);
    EXPECT_THAT(refusal(dir_, OpenMode::create),
                AllOf(HasSubstr(lock.string() + ": is a link"), HasSubstr("remove it")));
    EXPECT_EQ(slurp(victim), "mine");
    fs::remove(lock);
  }
  EXPECT_EQ(refusal(dir_, OpenMode::create), "opened");
}

TEST_F(StoreTest, AWriterFollowsNoLinkToADatabase) {
  const auto elsewhere = scratch_.path() / "elsewhere";
  ASSERT_TRUE(synthetic::write(small(), elsewhere));
  fs::create_directories(dir_);
  fs::create_symlink(elsewhere / "results.db", dir_ / "results.db");
  for (const auto mode : {OpenMode::resume, OpenMode::create})
    EXPECT_THAT(refusal(dir_, mode), HasSubstr("results.db: is a symbolic link, which is not followed"));
  // A directory that is one is its user's own.
  fs::create_directory_symlink(elsewhere, scratch_.path() / "link");
  EXPECT_EQ(refusal(scratch_.path() / "link", OpenMode::resume), "opened");
}

// All names in the directory, and what the database holds.
std::map<std::string, std::string> everything(const fs::path& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::directory_iterator{directory}) all[entry.path().filename()] = slurp(entry.path());
  return all;
}

TEST_F(StoreTest, AReaderLeavesNothingBehind) {
  ASSERT_TRUE(synthetic::write(small(), dir_));
  const auto before = everything(dir_);
  {
    const auto store = Store::open(dir_, OpenMode::read);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE(store->manifest() && store->runs() && store->index() && store->facts());
    EXPECT_EQ(everything(dir_), before);
  }
  EXPECT_EQ(everything(dir_), before);
}

// It was opened when nobody wrote, so without locks.
TEST_F(StoreTest, AReaderNoticesAWriterThatBeginsMeanwhile) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, dir_));
  // Whatever lies under the folder for temporary files.
  ASSERT_TRUE(open_sqlite(dir_, OpenMode::resume, Medium::local));
  const auto reader = Store::open(dir_, OpenMode::read);
  ASSERT_TRUE(reader && reader->runs());
  {
    auto writer = Store::open(dir_, OpenMode::resume);
    auto run = campaign.runs[0];
    run.run_id = "another";
    ASSERT_TRUE(writer->add_run(run));
  }
  EXPECT_THAT(reader->runs().error().message, AllOf(HasSubstr("results.db"), HasSubstr("try again")));
  EXPECT_THAT(reader->manifest().error().message, HasSubstr("try again"));
  EXPECT_EQ(Store::open(dir_, OpenMode::read)->runs()->size(), campaign.runs.size() + 1);
}

// As data stores keep files: the log lies beside the file, not beside the link.
TEST_F(StoreTest, AReaderFollowsALinkToTheDatabaseAndItsLog) {
  const auto campaign = small();
  const auto elsewhere = scratch_.path() / "elsewhere";
  auto writer = Store::open(elsewhere, OpenMode::create);
  ASSERT_TRUE(writer->save_manifest(campaign.manifest));
  ASSERT_TRUE(writer->add_run(campaign.runs[0]));
  fs::create_directories(dir_);
  fs::create_symlink(elsewhere / "results.db", dir_ / "results.db");
  const auto reader = Store::open(dir_, OpenMode::read);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->runs()->size(), 1U);
}

// What a stranger may have put into a database does not work, in no mode.
TEST_F(StoreTest, AStrangersSchemaDoesNothing) {
  const auto campaign = small();
  ASSERT_TRUE(synthetic::write(campaign, dir_));
  const auto change = [&](const std::string& sql) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open((dir_ / "results.db").c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  };
  change("CREATE TRIGGER t AFTER INSERT ON runs BEGIN UPDATE manifest SET document = 'theirs'; END");
  {
    auto store = Store::open(dir_, OpenMode::resume);
    auto run = campaign.runs[0];
    run.run_id = "another";
    ASSERT_TRUE(store && store->add_run(run));
    const auto manifest = store->manifest();
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(to_json(*manifest), to_json(campaign.manifest));
  }
  change("DROP TRIGGER t; ALTER TABLE facts RENAME TO old; CREATE VIEW facts AS SELECT * FROM old");
  const auto store = Store::open(dir_, OpenMode::read);
  const auto facts = store ? store->facts() : tl::unexpected(store.error());
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message, HasSubstr("results.db"));
}

TEST_F(StoreTest, ATextThatIsTooLongIsRefused) {
  auto database = Database::open(":memory:", "x.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  ASSERT_TRUE(database);
  const auto long_one = database->integer(fmt::format("SELECT length(zeroblob({}))", kLongestText + 1));
  ASSERT_FALSE(long_one);
  EXPECT_THAT(long_one.error().message, AllOf(HasSubstr("x.db"), HasSubstr("more than 256 MiB")));
  EXPECT_TRUE(database->integer("SELECT length(zeroblob(1000000))"));
}

TEST(FactsDigest, FollowsTheContent) {
  NodeFacts facts{.hostname = "a"};
  const auto digest = facts_digest(facts);
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(facts_digest(facts), digest);
  facts.kernel = "6.1";
  EXPECT_NE(facts_digest(facts), digest);
}

}  // namespace
}  // namespace longhaul::results
