// Which parts of RPC over RDMA a call and its reply go by, credits, chunks, and the trips that follow.
#include "workloads/protocols/rpc/plan.hh"

#include <gmock/gmock.h>

#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/chunks.hh"
#include "workloads/protocols/rpc/credits.hh"
#include "workloads/protocols/rpc/reads.hh"
#include "workloads/suite/rpc/spec.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kInline = 1024;

CallPlan planned(Design design, nfs::Procedure procedure, std::size_t size) {
  return plan_call(design, shape_of({}, {.procedure = procedure, .size = size}), kInline);
}

TEST(RpcPlanTest, SmallCallsGoInside) {
  for (const auto design : {Design::read_write, Design::read_read})
    for (const auto procedure : {nfs::Procedure::null, nfs::Procedure::read, nfs::Procedure::write})
      EXPECT_EQ(planned(design, procedure, 256), CallPlan{});
}

TEST(RpcPlanTest, LongRepliesAreOfferedRoomByReadWriteOnly) {
  EXPECT_EQ(planned(Design::read_write, nfs::Procedure::read, 4096), CallPlan{.write_chunk = true});
  EXPECT_EQ(planned(Design::read_write, nfs::Procedure::readdir, 4096), CallPlan{.reply_chunk = true});
  EXPECT_EQ(planned(Design::read_write, nfs::Procedure::readlink, 2000), CallPlan{.reply_chunk = true});
  for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::readdir, nfs::Procedure::readlink})
    EXPECT_EQ(planned(Design::read_read, procedure, 2000), CallPlan{});
}

TEST(RpcPlanTest, WriteIsTheSameInBothDesigns) {
  EXPECT_EQ(planned(Design::read_write, nfs::Procedure::write, 4096), CallPlan{.read_chunk = true});
  EXPECT_EQ(planned(Design::read_read, nfs::Procedure::write, 4096), CallPlan{.read_chunk = true});
  EXPECT_EQ(planned(Design::push, nfs::Procedure::write, 4096), CallPlan{.read_chunk = true})
      << "where there is no slot";
}

TEST(RpcPlanTest, ACallLongerThanAMessageIsALongCall) {
  EXPECT_EQ(plan_call(Design::read_write, {.message = 2000, .reply = 100}, kInline), CallPlan{.long_call = true});
  const CallShape write{.message = 128, .payload = 4096, .reply = 100};
  EXPECT_EQ(plan_call(Design::read_write, write, kInline, true), CallPlan{.long_call = true}) << "by choice";
  EXPECT_EQ(plan_call(Design::read_write, {.message = 128, .payload = 100}, kInline, true), CallPlan{}) << "it fits";
}

// The design's security is that of rights: what it does not use is not granted.
TEST(RpcPlanTest, NoPeerHasRightsThatItsDesignDoesNotUse) {
  using enum Design;
  using enum nfs::Procedure;
  const auto rights = [](Design design, nfs::Procedure procedure, Role role) {
    return rights_of({.procedure = procedure, .design = design}, role);
  };
  for (const auto procedure : {null, read, write, readdir, readlink})
    EXPECT_EQ(rights(read_write, procedure, Role::server), Rights::none) << "no buffer of the server is open";
  EXPECT_EQ(rights(read_read, read, Role::server), Rights::read);
  EXPECT_EQ(rights(read_read, readlink, Role::server), Rights::read);
  EXPECT_EQ(rights(read_read, write, Role::server), Rights::none);
  EXPECT_EQ(rights(push, write, Role::server), Rights::write);
  EXPECT_EQ(rights(push, read, Role::server), Rights::none);
  for (const auto design : {read_write, read_read, push}) {
    EXPECT_EQ(rights(design, null, Role::client), Rights::none);
    EXPECT_EQ(rights(design, write, Role::client), Rights::read);
  }
  EXPECT_EQ(rights(read_write, read, Role::client), Rights::write);
  EXPECT_EQ(rights(read_read, read, Role::client), Rights::none);
}

TEST(RpcPlanTest, RepliesGoWhereTheCallOfferedRoom) {
  const auto way = [](Design design, ReplyShape shape) {
    shape.header = kPlainHeader;
    return plan_reply(design, shape, kInline);
  };
  using enum Design;
  EXPECT_EQ(way(read_write, {.message = 128, .payload = 256}), ReplyWay::inside);
  EXPECT_EQ(way(read_write, {.message = 128, .payload = 256, .write_room = 4096}), ReplyWay::write_chunk)
      << "the client asked for it there";
  EXPECT_EQ(way(read_write, {.message = 128, .payload = 4097, .write_room = 4096}), ReplyWay::too_long);
  EXPECT_EQ(way(read_write, {.message = 128, .payload = 4096}), ReplyWay::too_long) << "nothing was offered";
  EXPECT_EQ(way(read_write, {.message = 4000, .reply_room = 4000}), ReplyWay::reply_chunk);
  EXPECT_EQ(way(read_write, {.message = 4000, .reply_room = 3999}), ReplyWay::too_long);
  EXPECT_EQ(way(read_write, {.message = 100, .reply_room = 4000}), ReplyWay::inside);
  EXPECT_EQ(way(read_read, {.message = 128, .payload = 4096}), ReplyWay::read_chunk);
  EXPECT_EQ(way(read_read, {.message = 4000}), ReplyWay::long_read_chunk);
  EXPECT_EQ(way(read_read, {.message = 100}), ReplyWay::inside);
}

TEST(RpcPlanTest, TripsAreThoseOfTheTable) {
  EXPECT_EQ(trips_of(ReplyWay::inside, {}, 0, 16).latency, 2);
  EXPECT_EQ(trips_of(ReplyWay::write_chunk, {.write_chunk = true}, 1, 16).latency, 2);
  const auto read_read = trips_of(ReplyWay::read_chunk, {}, 1, 16);
  EXPECT_EQ(read_read.latency, 4);
  EXPECT_EQ(read_read.exposed, 4) << "the reply goes out at d, RDMA_DONE is here at 5d";
  EXPECT_EQ(trips_of(ReplyWay::inside, {.read_chunk = true}, 1, 16).latency, 4) << "WRITE";
  EXPECT_EQ(trips_of(ReplyWay::inside, {.read_chunk = true}, 32, 8).latency, 2 + 2 * 4);
}

TEST(RpcPlanTest, TheCeilingIsThatOfWhatMayBeUnderWay) {
  constexpr std::chrono::milliseconds kRoundTrip{10};
  const auto most = [&](Window window, CallPlan call, ReplyWay way) { return ceiling(window, call, way, kRoundTrip); };
  const CallPlan write{.read_chunk = true};
  using enum ReplyWay;
  EXPECT_DOUBLE_EQ(most({.threads = 8, .credits = 32}, {.write_chunk = true}, write_chunk), 800);
  EXPECT_DOUBLE_EQ(most({.threads = 8, .credits = 4}, {.write_chunk = true}, write_chunk), 400);
  EXPECT_DOUBLE_EQ(most({.threads = 8, .credits = 32, .ord = 16}, {}, read_chunk), 400) << "two round trips each";
  EXPECT_DOUBLE_EQ(most({.threads = 8, .credits = 2, .ord = 16}, {}, read_chunk), 200)
      << "a credit comes with the reply";
  EXPECT_DOUBLE_EQ(most({.threads = 8, .credits = 32, .ord = 2}, {}, read_chunk), 200);
  EXPECT_DOUBLE_EQ(most({.threads = 16, .credits = 32, .ord = 16}, write, inside), 800);
  EXPECT_DOUBLE_EQ(most({.threads = 16, .credits = 32, .ord = 2}, write, inside), 200);
  EXPECT_DOUBLE_EQ(most({.threads = 16, .credits = 32, .segments = 4, .ord = 4}, write, inside), 100);
  EXPECT_DOUBLE_EQ(most({.threads = 16, .credits = 32, .ord = 16, .server_threads = 3}, write, inside), 300);
}

// The workload's prediction is told from the parameters alone, without the protocol's code.
TEST(RpcPlanTest, ThePredictionIsThatOfThePlan) {
  const auto spec = rpc::spec();
  constexpr std::int64_t kDelay = 1'000'000;
  for (const auto design : {"read-write", "read-read", "push"})
    for (const auto& [word, procedure] :
         {std::pair{"null", nfs::Procedure::null}, {"read", nfs::Procedure::read}, {"write", nfs::Procedure::write}})
      for (std::int64_t size = 256; size <= 262144; size += size < 4400 ? 4 : 1020)
        for (const std::int64_t segment : {4096, 65536}) {
          const Options options{.procedure = procedure,
                                .design = design_of(design),
                                .size = static_cast<std::size_t>(size),
                                .segment = static_cast<std::size_t>(segment)};
          const auto shape = shape_of(options.handles, call_of(options, 0));
          auto call = plan_call(options.design, shape, options.threshold);
          call.pushed = options.pushes();
          ReplyShape reply{.message = shape.reply, .payload = shape.reply_payload, .header = kPlainHeader};
          if (procedure == nfs::Procedure::write) reply.message = 100;
          if (call.write_chunk) reply.write_room = options.size;
          const auto segments = static_cast<std::size_t>((size + segment - 1) / segment);
          const auto trips = trips_of(plan_reply(options.design, reply, options.threshold), call, segments, 16).latency;
          const auto predicted = spec.predict({{"transport", "rdma"},
                                               {"delay", kDelay},
                                               {"procedure", word},
                                               {"design", design},
                                               {"size", size},
                                               {"segment", segment}});
          ASSERT_TRUE(predicted);
          ASSERT_EQ(*predicted, static_cast<double>(trips * kDelay)) << design << ' ' << word << ' ' << size;
        }
  EXPECT_EQ(spec.predict({{"transport", "tcp"}, {"delay", kDelay}, {"procedure", "write"}, {"size", 65536}}),
            2.0 * kDelay);
  EXPECT_FALSE(spec.predict({{"transport", "rdma"}}));
}

TEST(CreditsTest, OneCallUntilTheFirstReply) {
  Credits credits{4};
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
  EXPECT_EQ(credits.stalls(), 1U);
  credits.replied(32);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(credits.take()) << "no more than it asked for";
  EXPECT_FALSE(credits.take());
  credits.replied(0);
  EXPECT_FALSE(credits.take()) << "a grant of 0 is one, and three are under way";
  for (int i = 0; i < 3; ++i) credits.replied(0);
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
}

TEST(CreditsTest, SeveralCallsTakeWhatThereIs) {
  Credits credits{8};
  EXPECT_EQ(credits.take(4), 1U) << "until the first reply";
  EXPECT_EQ(credits.take(4), 0U);
  credits.replied(6);
  EXPECT_EQ(credits.take(4), 4U);
  EXPECT_EQ(credits.take(4), 2U);
  EXPECT_EQ(credits.under_way(), 6U);
  EXPECT_EQ(credits.stalls(), 1U);
}

BufferPiece piece(std::size_t offset, std::size_t length, std::uint32_t key) {
  return {offset, length, registration::Keys{key, key}};
}

TEST(ChunksTest, RequestsCoverBothSidesPieces) {
  const auto requests = requests_to(Operation::write, {piece(0, 4096, 1), piece(4096, 8192, 2)}, 100, 9000,
                                    {{7, 5000, 0x10000}, {8, 5000, 0x90000}});
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].local, 100U);
  EXPECT_EQ(requests[0].length, 3996U);
  EXPECT_EQ(requests[0].remote, 0x10000U);
  EXPECT_EQ(requests[1].length, 1004U);
  EXPECT_EQ(requests[1].remote, 0x10000U + 3996);
  EXPECT_EQ(requests[1].local_key, 2U);
  EXPECT_EQ(requests[1].remote_key, 7U);
  EXPECT_EQ(requests[2].length, 4000U);
  EXPECT_EQ(requests[2].remote, 0x90000U);
  EXPECT_TRUE(requests[2].absolute);
  EXPECT_THROW(requests_to(Operation::write, {piece(0, 4096, 1)}, 0, 4096, {{7, 4095, 0}}), std::length_error);
  EXPECT_THROW(requests_to(Operation::write, {piece(0, 4095, 1)}, 0, 4096, {{7, 4096, 0}}), std::length_error);
}

TEST(ReadQueueTest, NoMoreThanOrdAreWithTheAdapter) {
  ReadQueue reads{2};
  reads.add({{.length = 1}, {.length = 2}}, 7);
  reads.add({{.length = 3}}, 8);
  EXPECT_EQ(reads.next()->length, 1U);
  EXPECT_EQ(reads.next()->length, 2U);
  EXPECT_FALSE(reads.next()) << "two are";
  EXPECT_EQ(reads.completed(), 7U);
  EXPECT_EQ(reads.next()->length, 3U);
  EXPECT_EQ(reads.under_way(), 2U);
  EXPECT_EQ(reads.completed(), 7U);
  EXPECT_EQ(reads.completed(), 8U);
  EXPECT_FALSE(reads.next());
}

TEST(ChunksTest, AServerSaysWhatItUsed) {
  const Chunk chunk{{1, 100, 0}, {2, 100, 500}, {3, 100, 900}};
  EXPECT_EQ(used_of(chunk, 150), (Chunk{{1, 100, 0}, {2, 50, 500}, {3, 0, 900}}));
  EXPECT_EQ(length_of(used_of(chunk, 0)), 0U);
}

}  // namespace
}  // namespace longhaul::workloads::rpc
