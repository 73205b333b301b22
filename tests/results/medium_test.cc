// A store on a file system that machines share: no memory of theirs is common, locks are all they have.
#include "results/store/sqlite/medium.hh"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/store/sqlite/backend.hh"
#include "results/store/sqlite/database.hh"
#include "tests/results/temporary.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

StoredRun stored(int number) {
  return {.run_id = std::to_string(number), .cell_id = "c", .status = "ok", .document = std::string(5000, 'x')};
}

class OnNetwork : public testing::Test {
 protected:
  OnNetwork() { fs::create_directories(directory_); }
  Result<std::unique_ptr<Backend>> write(OpenMode mode) const { return open_sqlite(directory_, mode, Medium::network); }
  bool exists(const char* suffix) const { return fs::exists(directory_ / ("results.db" + std::string{suffix})); }

  TemporaryDirectory scratch_;
  fs::path directory_ = scratch_.path() / "out";
};

TEST(Medium, IsTheNetworkWhereOthersReachIt) {
  for (const long type :
       {0x6969L, 0xFF534D42L, 0x0BD00BD0L, 0x65735546L, static_cast<long>(static_cast<int>(0xFE534D42))})
    EXPECT_EQ(medium_of_type(type), Medium::network) << type;
  for (const long type : {0xEF53L /* ext4 */, 0x01021994L /* tmpfs */, 0x58465342L /* XFS */, 0L})
    EXPECT_EQ(medium_of_type(type), Medium::local) << type;
  EXPECT_EQ(medium_of("/proc"), Medium::local);
  EXPECT_EQ(medium_of("/nowhere/at/all"), Medium::local);
}

// Another process reads while this one writes: what it sees only grows, and nothing fails.
TEST_F(OnNetwork, IsReadWhileItIsWritten) {
  constexpr int kRuns = 60;
  {
    const auto store = write(OpenMode::create);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->save_manifest("{}"));
  }
  const auto reader = ::fork();
  ASSERT_GE(reader, 0);
  if (reader == 0) {
    std::size_t known = 0;
    for (int look = 0; look < 100000 && known < kRuns; ++look) {
      const auto store = open_sqlite(directory_, OpenMode::read);
      const auto count = store ? (*store)->count() : tl::unexpected(store.error());
      std::size_t read = 0;
      const auto all = store ? (*store)->each_document(known,
                                                       [&](const StoredRun& run) -> Result<void> {
                                                         return run.document.size() == 5000 &&
                                                                        run.run_id == std::to_string(known + read++)
                                                                    ? Result<void>{}
                                                                    : fail("bad");
                                                       })
                             : tl::unexpected(store.error());
      if (!count || !all || *count < known) {
        fmt::print(stderr, "{}\n", !count ? count.error().message : !all ? all.error().message : "fewer than before");
        ::_exit(1);
      }
      known += read;
    }
    ::_exit(known == kRuns ? 0 : 2);
  }
  const auto store = write(OpenMode::resume);
  ASSERT_TRUE(store) << store.error().message;
  for (int number = 0; number < kRuns; ++number) {
    const auto added = (*store)->add_run(stored(number));
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_FALSE(exists("-wal")) << "a log is for one machine";
    EXPECT_FALSE(exists("-shm"));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
}

// A directory that was made on a disk and is gone on with on the network, and the other way round.
TEST_F(OnNetwork, WhatWasBegunElsewhereIsGoneOnWith) {
  const auto count = [&] { return *(*open_sqlite(directory_, OpenMode::read))->count(); };
  const auto path = directory_ / "results.db";
  {
    const auto store = open_sqlite(directory_, OpenMode::create, Medium::local);
    ASSERT_TRUE((*store)->add_run(stored(0)));
    EXPECT_TRUE(exists("-wal"));
    EXPECT_FALSE(has_rollback_journal(path));
  }
  {
    const auto store = write(OpenMode::resume);
    ASSERT_TRUE((*store)->add_run(stored(1)));
    EXPECT_EQ(count(), 2U);
  }
  EXPECT_TRUE(has_rollback_journal(path));
  EXPECT_EQ(count(), 2U);
  {
    const auto store = open_sqlite(directory_, OpenMode::resume, Medium::local);
    ASSERT_TRUE((*store)->add_run(stored(2)));
    EXPECT_EQ(count(), 3U);
  }
  EXPECT_FALSE(has_rollback_journal(path));
  EXPECT_EQ(count(), 3U);
}

// A writer that was killed within a commit: readers say what to do, the next writer undoes it.
TEST_F(OnNetwork, AHalfCommitIsUndone) {
  {
    const auto store = write(OpenMode::create);
    for (int number = 0; number < 3; ++number) ASSERT_TRUE((*store)->add_run(stored(number)));
  }
  const auto writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    auto opened = Database::open("file:" + (directory_ / "results.db").string(), "", SQLITE_OPEN_READWRITE);
    // A cache of one page: what does not fit is written before the commit.
    if (!opened->execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM runs;")) ::_exit(1);
    for (int number = 10; number < 40; ++number)
      if (!opened->execute(
              fmt::format("INSERT INTO runs (run_id, cell_id, repetition, attempt, status, started, finished, "
                          "document) VALUES ('{}', 'c', 0, 0, 'ok', 0, 0, '{}')",
                          number, std::string(5000, 'y'))))
        ::_exit(1);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(exists("-journal"));
  const auto read = open_sqlite(directory_, OpenMode::read);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("go on with --resume"));
  const auto store = write(OpenMode::resume);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(*(*store)->count(), 3U);
  EXPECT_EQ(*(*open_sqlite(directory_, OpenMode::read))->count(), 3U);
}

}  // namespace
}  // namespace longhaul::results
