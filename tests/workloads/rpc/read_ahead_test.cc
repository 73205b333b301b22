// What a client reads ahead of its threads: which records, by which calls, and that nothing is lost or asked for twice.
#include "workloads/protocols/rpc/read_ahead.hh"

#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "tests/workloads/rpc/hostile.hh"

namespace longhaul::workloads::rpc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Rows = std::vector<std::pair<std::uint64_t, std::size_t>>;

Rows rows(ReadAhead& ahead) {
  Rows all;
  ahead.next([&](const ReadAhead::Row& row) { all.emplace_back(row.first, row.count); });
  return all;
}

TEST(ReadAheadTest, OneHalfIsOnItsWayWhileTheThreadWorksAtTheOther) {
  ReadAhead ahead{8, 32};
  EXPECT_EQ(ahead.number(), 0U);
  EXPECT_THAT(rows(ahead), ElementsAre(Pair(0U, 4U), Pair(4U, 4U))) << "all places are free";
  for (const std::uint64_t number : {1, 2, 3}) {
    EXPECT_THAT(rows(ahead), IsEmpty());
    EXPECT_EQ(ahead.number(), number);
  }
  EXPECT_THAT(rows(ahead), ElementsAre(Pair(8U, 4U))) << "the first four are free again";
  for (int i = 0; i < 3; ++i) EXPECT_THAT(rows(ahead), IsEmpty());
  EXPECT_THAT(rows(ahead), ElementsAre(Pair(12U, 4U)));
}

TEST(ReadAheadTest, WithoutItEachOperationAsksForItsOwnRecord) {
  ReadAhead none{1, 4};
  for (std::uint64_t number = 0; number < 10; ++number) EXPECT_THAT(rows(none), ElementsAre(Pair(number, 1U)));
  ReadAhead one{2, 8};
  EXPECT_THAT(rows(one), ElementsAre(Pair(0U, 1U), Pair(1U, 1U)));
  EXPECT_THAT(rows(one), ElementsAre(Pair(2U, 1U)));
}

// Each record is asked for once and in order, no more than are kept at a time, and none in one row with what does not
// lie behind it.
TEST(ReadAheadTest, EveryRecordIsAskedForOnceWhateverIsKept) {
  for (std::size_t kept = 1; kept <= 9; ++kept) {
    for (const std::size_t records : {kept, 4 * kept, 4 * kept + 1}) {
      ReadAhead ahead{kept, records};
      std::uint64_t asked = 0;
      for (std::uint64_t number = 0; number < 100; ++number) {
        for (const auto& [first, count] : rows(ahead)) {
          EXPECT_EQ(first, asked);
          EXPECT_LE(first % records + count, records) << "the first record does not lie behind the last";
          EXPECT_LE(2 * count, kept + 1);
          asked += count;
        }
        EXPECT_EQ(ahead.number(), number);
        EXPECT_GT(asked, number);
        EXPECT_LE(asked, number + kept);
      }
    }
  }
}

TEST(ReadAheadTest, WhatIsForgottenIsAskedForAgain) {
  ReadAhead ahead{4, 16};
  ahead.forget();
  EXPECT_THAT(rows(ahead), ElementsAre(Pair(0U, 2U), Pair(2U, 2U)));
  ahead.forget();
  EXPECT_THAT(rows(ahead), ElementsAre(Pair(1U, 2U), Pair(3U, 2U)));
}

class RpcReadAheadTest : public testing::TestWithParam<std::tuple<Design, std::size_t, const char*>> {};

TEST_P(RpcReadAheadTest, EveryRecordComesToItsThread) {
  const auto& [design, size, strategy] = GetParam();
  for (const std::size_t ahead : {1, 2, 7}) {
    for (const std::size_t credits : {1, 3, 64}) {
      Options options{.procedure = nfs::Procedure::read,
                      .design = design,
                      .size = size,
                      .threads = 3,
                      .ahead = ahead,
                      .credits = credits,
                      .threshold = 1024,
                      .segment = 8192,
                      .ord = 4};
      options.client_buffers.strategy = strategy;
      Table table{options};
      for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(table.play()) << i;
        for (std::size_t thread = 0; thread < options.threads; ++thread)
          ASSERT_EQ(table.client->fault(thread), "") << "round " << i << ", thread " << thread;
      }
      for (int i = 0; i < 20; ++i) {  // what was asked for ahead
        table.server->advance();
        table.client->progress();
      }
      EXPECT_LE(table.server->counters().calls, 300 + 3 * ahead) << "nothing is asked for twice";
      EXPECT_EQ(table.server->counters().errors, 0U);
      EXPECT_EQ(table.server->withheld(), 0U);
      EXPECT_TRUE(table.client_end.registered.live.empty()) << "closed to the server as soon as it has answered";
      if (credits == 64) {
        EXPECT_GT(table.client->found(), 0U);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RpcReadAheadTest,
                         testing::Combine(testing::Values(Design::read_write, Design::read_read, Design::push),
                                          testing::Values(std::size_t{300}, std::size_t{20000}),
                                          testing::Values("preregistered", "each-time", "fast")));

// By design push one call asks for half of what is kept, and the server writes record after record.
TEST(RpcReadAheadSequence, OneCallIsAnsweredByARowOfReplies) {
  using enum Operation;
  Options options{.procedure = nfs::Procedure::read, .design = Design::push, .size = 8192, .ahead = 7};
  Table table{options};
  const auto play = [&](int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(table.play());
  };
  play(1);
  // One credit until the first reply: the first record by itself. Then the rest of its row, and the next.
  for (int i = 0; i < 4; ++i) {
    table.server->advance();
    table.client->progress();
  }
  EXPECT_THAT(table.operations(table.client_end), ElementsAre(send, send, send));
  EXPECT_EQ(table.server->counters().calls, 8U);
  EXPECT_EQ(table.operations(table.server_end).size(), 16U) << "a payload and a reply for each record";
  table.client_end.posted.clear();
  play(4);
  EXPECT_THAT(table.operations(table.client_end), ElementsAre(send)) << "one call for four records";
  play(4);
  EXPECT_THAT(table.operations(table.client_end), ElementsAre(send, send));
  EXPECT_EQ(table.client->trips(), 2);
  // The same by Read-Write: a call for each record.
  options.design = Design::read_write;
  Table other{options};
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(other.play());
  EXPECT_EQ(other.operations(other.client_end).size(), 16U);
}

TEST(RpcReadAheadSequence, AResetForgetsWhatWasReadAhead) {
  Table table{{.procedure = nfs::Procedure::read, .design = Design::push, .size = 8192, .ahead = 3}};
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(table.play());
  for (int i = 0; i < 20 && !table.client->idle(0); ++i) {
    table.server->advance();
    table.client->progress();
  }
  ASSERT_TRUE(table.client->idle(0));
  table.client->reset();
  EXPECT_EQ(table.client->found(), 0U);
  table.client->start(0);
  EXPECT_FALSE(table.client->done(0)) << "a window does not begin with what came before it";
  EXPECT_FALSE(table.client->idle(0));
  ASSERT_TRUE(table.settle());
  EXPECT_EQ(table.client->fault(0), "");
}

TEST(RpcReadAheadFault, ARowThatIsNoneIsRefused) {
  Hostile peer{{.procedure = nfs::Procedure::read, .design = Design::push, .size = 8192, .credits = 4}};
  const auto place = reinterpret_cast<std::uintptr_t>(peer.table.client_end.memory().data());
  const auto slot = [&](std::uint32_t length) { return Chunk{{0xffffffff, length, place}}; };
  const auto ask = [&](std::uint32_t xid, Header header) {
    header.kind = HeaderKind::ahead;
    peer.call(peer.table.options, {.xid = xid}, std::move(header));
    peer.table.server->advance();
    return peer.answer();
  };
  auto answer = ask(1, {.writes = {slot(8192), slot(100)}});
  EXPECT_EQ(answer.kind, HeaderKind::error) << "the second is too short";
  EXPECT_EQ(answer.xid, 2U) << "the first was answered";
  EXPECT_EQ(peer.table.server->counters().errors, 1U);
  EXPECT_EQ(ask(3, {}).kind, HeaderKind::error) << "no chunk at all";
  EXPECT_EQ(ask(4, {.writes = {slot(8192)}, .reply = slot(8192)}).kind, HeaderKind::error);
  EXPECT_EQ(ask(5, {.reads = {{0, {0xffffffff, 100, place}}}, .writes = {slot(8192)}}).kind, HeaderKind::error);
  // Records beyond the file's end are as a READ there is: nothing, and no harm.
  auto far = peer.table.options;
  peer.call(far, {.xid = 6, .offset = far.file_size() - 8192},
            {.kind = HeaderKind::ahead, .writes = {slot(8192), slot(8192)}});
  peer.table.server->advance();
  EXPECT_EQ(peer.answer().xid, 7U);
  try {
    ask(8, {.writes = std::vector<Chunk>(5, slot(8192))});
    FAIL() << "it was served";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("call 0x0000000c is one more than the 4 that the client was granted"));
  }
  // Of a WRITE there is no such call.
  Hostile writer{{.procedure = nfs::Procedure::write, .design = Design::push, .size = 8192}};
  writer.call(writer.table.options, {.xid = 9}, {.kind = HeaderKind::ahead, .writes = {slot(8192)}});
  EXPECT_EQ(writer.answer().kind, HeaderKind::error);
}

TEST(RpcReadAheadSockets, AreMeasuredAndRefusedByTheHarness) {
  ServerThread server;
  Events events;
  const auto run = [&](Parameters parameters) {
    return run_client(towards(server.port(), quick(std::move(parameters))), *find_workload("rpc"), *find_runner("rpc"),
                      events, -1);
  };
  const auto result = run({{"ahead", 7}, {"threads", 2}, {"size", 3000}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->client.metrics.at("throughput").value, 0);
  EXPECT_GT(result->client.metrics.at("ahead_hits").value, 0);
  EXPECT_LE(result->client.metrics.at("ahead_hits").value, 1);
  EXPECT_EQ(run({{"threads", 2}, {"size", 3000}})->client.metrics.count("ahead_hits"), 0U);
  const auto refused = run({{"ahead", 7}, {"procedure", "write"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--ahead 7: only READs are asked for ahead: give --procedure read"));
  const auto large = run({{"ahead", 63}, {"threads", 8}, {"size", 1 << 20}});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("--clients 1 with --threads 8, --ahead 63 and --size 1MiB"));
}

}  // namespace
}  // namespace longhaul::workloads::rpc
