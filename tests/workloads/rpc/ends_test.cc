// Client and server of RPC over RDMA over two memories that copy to one another, and what breaks them; over sockets by
// the harness.
#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "tests/workloads/rpc/hostile.hh"
#include "workloads/protocols/rpc/chunks.hh"

namespace longhaul::workloads::rpc {
namespace {

using testing::HasSubstr;

using Case = std::tuple<nfs::Procedure, Design, std::size_t, const char*, const char*>;

class RpcTest : public testing::TestWithParam<Case> {};

TEST_P(RpcTest, EveryThreadsCallsAreAnswered) {
  const auto& [procedure, design, size, client_strategy, server_strategy] = GetParam();
  for (const std::size_t threads : {1, 5, 40}) {
    Table table{{.procedure = procedure,
                 .design = design,
                 .size = procedure == nfs::Procedure::readlink ? std::min(size, nfs::kMostPath) : size,
                 .threads = threads,
                 .credits = 16,
                 .threshold = 1024,
                 .segment = 8192,
                 .ord = 4,
                 .server_threads = 3,
                 .client_buffers = {.strategy = client_strategy, .capacity = 1 << 20},
                 .server_buffers = {.strategy = server_strategy}}};
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(table.play()) << i;
    table.client->verify_last();
    EXPECT_EQ(table.server->counters().calls, 40 * threads);
    EXPECT_EQ(table.server->counters().errors, 0U);
    EXPECT_EQ(table.server->withheld(), 0U) << "every buffer is given back";
    EXPECT_LE(table.server->counters().most_reads, 4U) << "ord";
    if (threads <= 5) {
      EXPECT_LE(table.client->stalls(), threads) << "until the first reply";
    }
    if (std::string{server_strategy} != "preregistered") {
      const std::size_t slots = table.options.pushes() ? table.options.credits + 1 : 0;
      EXPECT_LE(table.server_end.registered.live.size(), slots) << "all but the slots are deregistered";
    }
    if (client_strategy != std::string{"mrrc"}) {
      EXPECT_TRUE(table.client_end.registered.live.empty()) << "deregistered before the call is over";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RpcTest,
                         testing::Combine(testing::Values(nfs::Procedure::null, nfs::Procedure::read,
                                                          nfs::Procedure::write, nfs::Procedure::readdir,
                                                          nfs::Procedure::readlink),
                                          testing::Values(Design::read_write, Design::read_read, Design::push),
                                          testing::Values(std::size_t{300}, std::size_t{4001}, std::size_t{65536}),
                                          testing::Values("preregistered", "each-time", "mrrc"),
                                          testing::Values("preregistered", "each-time")));
INSTANTIATE_TEST_SUITE_P(Windows, RpcTest,
                         testing::Combine(testing::Values(nfs::Procedure::read, nfs::Procedure::write,
                                                          nfs::Procedure::readdir),
                                          testing::Values(Design::read_write, Design::read_read, Design::push),
                                          testing::Values(std::size_t{4001}), testing::Values("fast"),
                                          testing::Values("preregistered", "fast")));

TEST(RpcSequenceTest, AreThePapers) {
  using enum Operation;
  const auto played = [](nfs::Procedure procedure, Design design) {
    auto table = std::make_unique<Table>(Options{.procedure = procedure, .design = design, .size = 8192});
    EXPECT_TRUE(table->play());
    return table;
  };
  auto table = played(nfs::Procedure::read, Design::read_write);
  EXPECT_THAT(table->operations(table->client_end), testing::ElementsAre(send));
  EXPECT_THAT(table->operations(table->server_end), testing::ElementsAre(write, send));
  EXPECT_EQ(table->client->trips(), 2);
  EXPECT_EQ(table->server->counters().exposures, 0U) << "no buffer of the server is open to anybody";
  table = played(nfs::Procedure::read, Design::read_read);
  EXPECT_THAT(table->operations(table->client_end), testing::ElementsAre(send, read, send)) << "call, data, RDMA_DONE";
  EXPECT_THAT(table->operations(table->server_end), testing::ElementsAre(send));
  EXPECT_EQ(table->client->trips(), 4);
  EXPECT_EQ(table->server->counters().exposures, 1U);
  for (const auto design : {Design::read_write, Design::read_read}) {
    table = played(nfs::Procedure::write, design);
    EXPECT_THAT(table->operations(table->client_end), testing::ElementsAre(send));
    EXPECT_THAT(table->operations(table->server_end), testing::ElementsAre(read, send));
    EXPECT_EQ(table->client->trips(), 4);
  }
  table = played(nfs::Procedure::write, Design::push);
  EXPECT_EQ(table->client->trips(), 4) << "before the first reply the client has no slot";
  EXPECT_TRUE(table->play());
  EXPECT_THAT(table->operations(table->client_end), testing::ElementsAre(send, write, send)) << "payload, then call";
  EXPECT_THAT(table->operations(table->server_end), testing::ElementsAre(read, send, send));
  EXPECT_EQ(table->client->trips(), 3) << "four, then two";
  EXPECT_EQ(table->server->counters().exposures, 1U);
  // A long reply goes in several writes, so that what several calls have under way moves evenly.
  auto large = std::make_unique<Table>(Options{.procedure = nfs::Procedure::read, .size = 65536});
  EXPECT_TRUE(large->play());
  EXPECT_THAT(large->operations(large->server_end), testing::ElementsAre(write, write, write, write, send));
  table = played(nfs::Procedure::readdir, Design::read_write);
  EXPECT_THAT(table->operations(table->server_end), testing::ElementsAre(write, send));
  table = played(nfs::Procedure::readdir, Design::read_read);
  EXPECT_THAT(table->operations(table->client_end), testing::ElementsAre(send, read, send));
}

// The adapter may have to send the payload again as long as it is not acknowledged: until then its memory is not the
// application's.
TEST(RpcSequenceTest, APushedCallEndsWhenItsPayloadIsAcknowledged) {
  Options options{.procedure = nfs::Procedure::write, .design = Design::push, .size = 8192};
  options.client_buffers.strategy = "each-time";
  Table table{options};
  ASSERT_TRUE(table.play());
  table.client_end.hold = Completion::Kind::sent;
  table.client->start(0);
  for (int i = 0; i < 10; ++i) {
    table.server->advance();
    table.client->progress();
  }
  EXPECT_FALSE(table.client->done(0)) << "the reply is there, the acknowledgement is not";
  EXPECT_FALSE(table.client_end.registered.live.empty());
  table.client_end.hold.reset();
  table.client->progress();
  EXPECT_TRUE(table.client->done(0));
  EXPECT_TRUE(table.client_end.registered.live.empty());
}

// A store on disks holds back its replies, not its connections.
TEST(RpcStoreTest, AReplyWaitsForTheDisksAndOthersDoNot) {
  for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::write}) {
    Table table{{.procedure = procedure, .size = 8192, .threads = 2, .server_threads = 1}};
    ASSERT_TRUE(table.play());
    table.store.lie_on({.cache = 1 << 20, .disks = 2, .seek = std::chrono::milliseconds{30}, .rate = {1'000'000'000}});
    const auto begun = observe::raw_time();
    table.client->start(0);
    for (int i = 0; i < 10; ++i) {
      table.server->advance();
      table.client->progress();
    }
    EXPECT_EQ(table.threads.waiting, 1U) << "its thread waits with it";
    while (!table.client->done(0)) {
      table.server->advance();
      table.client->progress();
    }
    EXPECT_GE(observe::raw_time() - begun, std::chrono::milliseconds{30});
    EXPECT_EQ(table.threads.waiting, 0U);
    EXPECT_EQ(table.store.disks()->counters().requests, 1U);
    // Both at a time, each after the other where there is one thread; then from the cache.
    for (int i = 0; i < 20; ++i) {
      for (const std::size_t thread : {0, 1}) table.client->start(thread);
      while (!table.client->done(0) || !table.client->done(1)) {
        table.server->advance();
        table.client->progress();
      }
    }
    if (procedure == nfs::Procedure::read) {
      EXPECT_GT(table.store.disks()->counters().cached, 60U);
    }
    table.client->verify_last();
    EXPECT_EQ(table.server->counters().errors, 0U);
  }
}

// RDMA_NOMSG: the server reads the whole call.
TEST(RpcLongCallTest, TheMessageIsAHeaderAndTheServerReadsTheRest) {
  for (const auto design : {Design::read_write, Design::read_read, Design::push}) {
    for (const auto* strategy : {"preregistered", "each-time", "fast"}) {
      for (const std::size_t size : {1500, 8192, 65536}) {
        Options options{.procedure = nfs::Procedure::write,
                        .design = design,
                        .size = size,
                        .threads = 3,
                        .threshold = 1024,
                        .segment = 8192,
                        .long_calls = true};
        options.client_buffers.strategy = strategy;
        Table table{options};
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(table.play());
        for (const auto& request : table.client_end.posted) {
          EXPECT_EQ(request.operation, Operation::send) << "nothing is pushed";
          EXPECT_LE(request.length, 28U + 24 * ((size + 200) / 8192 + 1)) << "a header";
        }
        EXPECT_EQ(table.client->trips(), 4);
        EXPECT_EQ(table.server->counters().calls, 15U);
        EXPECT_EQ(table.server->counters().errors, 0U);
      }
    }
  }
  // What fits is sent as ever; so are the READs of a mix.
  Table small{{.procedure = nfs::Procedure::write, .size = 300, .long_calls = true}};
  ASSERT_TRUE(small.play());
  EXPECT_EQ(small.client->trips(), 2);
  Table mixed{{.mix = true, .size = Mix::longest(16384), .threads = 5, .long_calls = true}};
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(mixed.play()) << i;
  mixed.client->verify_last();
  EXPECT_EQ(mixed.server->counters().errors, 0U);
}

// A window is invalidated by a request to the adapter: until that is through the call is not over.
TEST(RpcSequenceTest, ACallEndsWhenItsWindowIsClosed) {
  for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::write, nfs::Procedure::readdir}) {
    Options options{.procedure = procedure, .size = 8192, .threads = 2};
    options.client_buffers.strategy = "fast";
    Table table{options};
    ASSERT_TRUE(table.play());
    auto& windows = table.client_end.registered;
    windows.completes = windows.removed;
    table.client->start(0);
    table.client->start(1);
    for (int i = 0; i < 10; ++i) {
      table.server->advance();
      table.client->progress();
    }
    EXPECT_FALSE(table.client->done(0)) << "its reply is there";
    EXPECT_FALSE(table.client->done(1));
    EXPECT_TRUE(windows.live.empty()) << "both are asked for";
    ++windows.completes;
    table.client->progress();
    EXPECT_NE(table.client->done(0), table.client->done(1)) << "in their order";
    ++windows.completes;
    table.client->progress();
    EXPECT_TRUE(table.client->done(0) && table.client->done(1));
    table.client->verify_last();
  }
}

// By remote invalidation the reply has closed it, whatever else is with the adapter.
TEST(RpcSequenceTest, AReplyClosesTheWindowOfItsCall) {
  for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::write, nfs::Procedure::readdir}) {
    for (const auto design : {Design::read_write, Design::read_read, Design::push}) {
      for (const std::size_t ahead : {0, 3}) {
        Options options{.procedure = procedure, .design = design, .size = 8192, .threads = 2};
        if (procedure == nfs::Procedure::read) options.ahead = ahead;
        options.remote_invalidation = true;
        options.client_buffers.strategy = "fast";
        Table table{options};
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(table.play());
        for (int i = 0; i < 20; ++i) {
          table.server->advance();
          table.client->progress();
        }
        EXPECT_TRUE(table.client_end.registered.live.empty());
        table.client->verify_last();
        EXPECT_EQ(table.server->counters().errors, 0U);
        // What is fetched by the client, or pushed, has no key that the server knows.
        const bool fetched = design == Design::read_read && procedure != nfs::Procedure::write;
        const bool pushed = design == Design::push && procedure == nfs::Procedure::write;
        const auto counters = *table.client->registrations();
        const auto closed =
            static_cast<double>(counters.closed_by_peer) / static_cast<double>(counters.deregistrations);
        if (!fetched && !pushed) {
          EXPECT_EQ(closed, 1);
        } else {
          EXPECT_LT(closed, 0.2) << "the calls before the first slot";
        }
      }
    }
  }
}

TEST(RpcFaultTest, BadHeadersAreAnsweredAndNothingIsLeft) {
  Hostile peer{{.procedure = nfs::Procedure::write, .size = 8192}};
  std::array<std::byte, 28> version{};
  XdrWriter out{version};
  for (const std::uint32_t word : {7, 2, 1, 0, 0, 0, 0}) out.word(word);
  peer.send(version);
  auto answer = peer.answer();
  EXPECT_EQ(answer.kind, HeaderKind::error);
  EXPECT_EQ(answer.xid, 7U);
  EXPECT_EQ(answer.fault.kind, WireFault::Kind::version);
  peer.send(std::span{version}.first(3));
  EXPECT_EQ(peer.answer().kind, HeaderKind::msgp) << "without an xid there is nobody to answer to";
  peer.send({.xid = 8, .reads = {{0, {1, 0, 0}}}});
  EXPECT_EQ(peer.answer().fault.kind, WireFault::Kind::chunk);
  // A payload of two chunks, and one that is shorter than the call says.
  peer.call(peer.table.options, {.xid = 9}, {.reads = {{100, {1, 8192, 0}}, {104, {1, 10, 90000}}}});
  EXPECT_EQ(peer.answer().kind, HeaderKind::error);
  peer.call(peer.table.options, {.xid = 10}, {.reads = {{100, {1, 4096, 0}}}});
  EXPECT_EQ(peer.answer().xid, 10U);
  // More than any buffer has room for.
  peer.call(peer.table.options, {.xid = 11}, {.reads = {{100, {1, 0x7fffffff, 0}}}});
  EXPECT_EQ(peer.answer().kind, HeaderKind::error);
  EXPECT_GE(peer.table.server->counters().errors, 5U);
  // It serves as before.
  for (int i = 0; i < 100; ++i) peer.send({.xid = 12, .kind = HeaderKind::done});
  EXPECT_EQ(peer.table.server->withheld(), 0U);
}

// A database's calls: of either kind and any size, on one connection.
TEST(RpcMixTest, CallsOfEveryKindAndSizeAreAnsweredByEachDesign) {
  for (const auto design : {Design::read_write, Design::read_read, Design::push}) {
    for (const auto* strategy : {"preregistered", "each-time"}) {
      Options options{
          .mix = true, .design = design, .size = Mix::longest(16384), .threads = 5, .segment = 8192, .copy = true};
      options.client_buffers.strategy = options.server_buffers.strategy = strategy;
      Table table{options};
      for (int i = 0; i < 60; ++i) ASSERT_TRUE(table.play()) << i;
      table.client->verify_last();
      EXPECT_EQ(table.server->counters().calls, 300U);
      EXPECT_EQ(table.server->counters().errors, 0U);
      EXPECT_EQ(table.server->withheld(), 0U);
      EXPECT_TRUE(table.client_end.registered.live.empty());
      // Of ten calls eight are READs: 2 trips by Read-Write and push, 4 by Read-Read; a WRITE has 4, pushed 2.
      const auto trips = table.client->trips();
      EXPECT_GT(trips, design == Design::push ? 1.9 : design == Design::read_read ? 3.3 : 2.2);
      EXPECT_LT(trips, design == Design::push ? 2.3 : design == Design::read_read ? 4.1 : 2.7);
    }
  }
}

// Deregistration that is deferred leaves the call's way, not the books.
TEST(RpcDeferredTest, RegionsLieUpToTheWatermark) {
  for (const auto design : {Design::read_write, Design::read_read, Design::push}) {
    for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::write}) {
      Options options{.procedure = procedure, .design = design, .size = 8192, .threads = 3, .credits = 8};
      options.client_buffers = options.server_buffers = {.strategy = "each-time", .deferred = 6};
      Table table{options};
      std::size_t most = 0;
      for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(table.play());
        most = std::max(most, table.client_end.registered.live.size());
        EXPECT_LE(table.client_end.registered.live.size(), 6U + 3U);
        EXPECT_LE(table.server_end.registered.live.size(), 6U + 3U + (options.pushes() ? 9U : 0U));
      }
      EXPECT_GE(most, 6U);
      table.client->verify_last();
      EXPECT_EQ(table.server->counters().errors, 0U);
      const auto counters = table.client->registrations();
      EXPECT_EQ(counters->registrations - counters->deregistrations, table.client_end.registered.live.size());
      EXPECT_GE(counters->most_idle_pages, 6U * 2U);
      EXPECT_LE(counters->most_idle_pages, 9U * 3U);
    }
  }
  Options pinned{.size = 8192, .credits = 4};
  const auto before = pinned_by(pinned);
  pinned.server_buffers.deferred = 5;
  EXPECT_EQ(pinned_by(pinned), before) << "a pool that is registered once";
  pinned.server_buffers.strategy = "each-time";
  EXPECT_EQ(pinned_by(pinned), before + 5 * Layout(pinned, Role::server, false).buffer_stride);
}

// The application has its data in memory of its own.
TEST(RpcCopyTest, TheApplicationHasWhatItReadAndSendsWhatItHas) {
  for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::write}) {
    Table table{{.procedure = procedure, .size = 20000, .threads = 3, .copy = true}};
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(table.play());
    EXPECT_NO_THROW(table.client->verify_last());
    EXPECT_EQ(table.server->counters().errors, 0U);
    if (procedure == nfs::Procedure::write) continue;
    // What is in the registered buffer afterwards is not the application's business.
    const Layout layout{table.options, Role::client, false};
    const auto buffers = table.client_end.memory().subspan(layout.buffers);
    std::fill(buffers.begin(), buffers.end(), std::byte{0});
    EXPECT_NO_THROW(table.client->verify_last());
  }
}

// A call waits for a thread that another client's call has, and goes on when that is free.
TEST(RpcServerThreadsTest, AreSharedByAllClients) {
  const Options options{.procedure = nfs::Procedure::write, .size = 8192, .server_threads = 1};
  ServerThreads threads{.all = 1};
  Table first{options, &threads};
  Table second{options, &threads};
  for (auto* table : {&first, &second}) table->client->start(0);
  first.server->advance();
  EXPECT_EQ(threads.waiting, 1U);
  second.server->advance();
  EXPECT_THAT(second.server_end.posted, testing::IsEmpty()) << "no thread is free";
  first.server->advance();
  EXPECT_EQ(threads.waiting, 0U);
  second.server->advance();
  EXPECT_THAT(second.operations(second.server_end), testing::ElementsAre(Operation::read));
  EXPECT_TRUE(second.settle());
  EXPECT_TRUE(first.settle());
}

// Slots of design push.
TEST(RpcSlotTest, AClientNeverHoldsMoreThanItsCredits) {
  Table table{{.procedure = nfs::Procedure::write, .design = Design::push, .size = 8192, .threads = 40, .credits = 4}};
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(table.play());
  EXPECT_EQ(table.server->counters().errors, 0U);
  table.client->reset();
  ASSERT_TRUE(table.play());
  EXPECT_EQ(table.client->trips(), 2) << "a slot for each call that may be under way";
}

TEST(RpcSlotTest, WhatWasNotGrantedIsRefused) {
  Hostile peer{{.procedure = nfs::Procedure::write, .design = Design::push, .size = 8192, .credits = 2}};
  std::vector<std::byte> payload(8192);
  fill_content(payload, 0);
  const auto place = peer.table.client_plan.memory - payload.size();
  const auto memory = peer.table.client_end.memory();
  std::copy(payload.begin(), payload.end(), memory.begin() + static_cast<std::ptrdiff_t>(place));
  const auto granted = [&](std::uint32_t xid, Header header) {
    peer.call(peer.table.options, {.xid = xid}, std::move(header));
    peer.table.server->advance();  // its read is complete
    return peer.answer();
  };
  // A slot is got by a WRITE whose payload the server reads.
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data()) + place;
  const auto first = granted(1, {.reads = {{100, {0xffffffff, 8192, address}}}});
  ASSERT_EQ(first.kind, HeaderKind::slot);
  ASSERT_EQ(length_of(first.slot), 8192U);
  const auto slot = [&](Chunk named) { return Header{.kind = HeaderKind::slot, .slot = std::move(named)}; };
  auto other = first.slot;
  other.front().offset += 8;
  other.front().length -= 8;
  EXPECT_EQ(granted(2, slot(other)).kind, HeaderKind::error) << "not where it was granted";
  EXPECT_EQ(granted(3, slot(first_of(first.slot, 100))).kind, HeaderKind::error) << "less than the call says";
  EXPECT_EQ(granted(4, slot({})).kind, HeaderKind::error);
  EXPECT_EQ(granted(5, slot(first.slot)).kind, HeaderKind::error) << "its slot is used up by the short call";
}

// Nobody can change what the server has begun to look at.
TEST(RpcSlotTest, ATakenSlotIsClosedBeforeItIsRead) {
  for (const auto& buffers_of : {StrategyOptions{}, StrategyOptions{.strategy = "each-time"},
                                 StrategyOptions{.strategy = "each-time", .deferred = 4}}) {
    Options options{.procedure = nfs::Procedure::write, .design = Design::push, .size = 8192};
    options.server_buffers = buffers_of;
    const ConnectionPlan plan = *plan_of(options, Role::server, false);
    FakeConnection end{total_memory(plan), plan.memory};
    Buffers buffers{end, options.server_buffers};
    Slots slots{end, buffers, options};
    const auto granted = slots.grant();
    const auto memory = reinterpret_cast<std::uintptr_t>(end.memory().data());
    const auto slot = end.memory().subspan(granted.front().offset - memory, 8192);
    slot.front() = std::byte{1};
    std::vector<std::byte> copy(8192);
    const auto payload = slots.take(granted, copy);
    ASSERT_TRUE(payload);
    EXPECT_EQ(payload->front(), std::byte{1});
    slot.front() = std::byte{2};  // as a client with the key would
    if (options.server_buffers.closes_at_once()) {
      EXPECT_TRUE(end.registered.live.empty()) << "the adapter refuses such a write";
    } else {
      EXPECT_EQ(payload->front(), std::byte{1}) << "a copy";
    }
    EXPECT_FALSE(slots.take(granted, copy)) << "once";
  }
}

TEST(RpcFaultTest, AReplyLongerThanTheChunkIsAnError) {
  Hostile peer{{.procedure = nfs::Procedure::read, .size = 8192}};
  const auto place = reinterpret_cast<std::uintptr_t>(peer.table.client_end.memory().data());
  peer.call(peer.table.options, {.xid = 3}, {.writes = {{{0xffffffff, 100, place}}}});
  const auto answer = peer.answer();
  EXPECT_EQ(answer.kind, HeaderKind::error);
  EXPECT_EQ(answer.xid, 3U);
  peer.call(peer.table.options, {.xid = 4}, {});
  EXPECT_EQ(peer.answer().kind, HeaderKind::error) << "no chunk at all";
}

TEST(RpcFaultTest, AReplyLongerThanAnyBufferIsAnErrorInEitherDesign) {
  for (const auto design : {Design::read_write, Design::read_read}) {
    for (const auto procedure : {nfs::Procedure::read, nfs::Procedure::readdir}) {
      Hostile peer{{.procedure = procedure, .design = design, .size = 8192}};
      auto greedy = peer.table.options;
      greedy.size = 30000;  // of a file of 32768
      Header header;
      if (design == Design::read_write && procedure == nfs::Procedure::read) header.writes = {{{1, 60000, 0}}};
      if (design == Design::read_write && procedure == nfs::Procedure::readdir) header.reply = Chunk{{1, 60000, 0}};
      peer.call(greedy, {.xid = 5}, header);
      const auto answer = peer.answer();
      EXPECT_EQ(answer.kind, HeaderKind::error);
      EXPECT_EQ(answer.xid, 5U);
      EXPECT_EQ(peer.table.server->withheld(), 0U) << "nothing was offered";
    }
  }
}

// A hostile client that reads what it was offered, and never says so.
TEST(RpcFaultTest, WithheldBuffersAreBoundedAndTakenBackInTime) {
  Options options{.design = Design::read_read, .size = 8192, .credits = 3, .misdeed = Misdeed::withholds};
  Table bounded{options};
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(bounded.play());
  EXPECT_FALSE(bounded.play()) << "the server has no buffer left for this client";
  EXPECT_EQ(bounded.server->withheld(), 6U);
  EXPECT_EQ(bounded.server->overdue(), 0U);
  options.give_back = std::chrono::microseconds{1};
  options.server_buffers.strategy = "each-time";
  Table remedied{options};
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(remedied.play());
  for (int i = 0; i < 1000 && remedied.server->withheld() > 0; ++i) remedied.server->advance();
  EXPECT_EQ(remedied.server->withheld(), 0U);
  EXPECT_EQ(remedied.server->overdue(), 20U);
  EXPECT_TRUE(remedied.server_end.registered.live.empty()) << "its keys are void";
}

TEST(RpcFaultTest, MoreCallsThanWereGrantedEndTheConnection) {
  Hostile peer{{.procedure = nfs::Procedure::read, .design = Design::read_read, .size = 8192, .credits = 2}};
  // Their replies are never acknowledged by RDMA_DONE, so their buffers stay taken.
  const auto flood = [&] {
    for (std::uint32_t xid = 1; xid < 20; ++xid) peer.call(peer.table.options, {.xid = xid}, {});
  };
  try {
    flood();
    FAIL() << "it was served";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("call 0x00000007 is one more than the 2 that the client was granted"));
  }
  EXPECT_EQ(peer.table.server->withheld(), 4U) << "all buffers, and no more";
}

TEST(RpcFaultTest, AServersWrongAnswersNameTheCall) {
  const auto why = [](auto tamper) -> std::string {
    Table table{{.procedure = nfs::Procedure::read, .size = 8192}};
    EXPECT_TRUE(table.play());
    table.server_end.tamper = tamper;
    try {
      table.play();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto message = [](std::span<std::byte> bytes) { return bytes.size() < 1024; };
  EXPECT_THAT(why([&](std::span<std::byte> bytes) {
                if (message(bytes)) bytes[3] ^= std::byte{0x40};
              }),
              HasSubstr("a reply came to call 0x00000042, of which none is under way"));
  EXPECT_THAT(why([&](std::span<std::byte> bytes) {
                if (message(bytes)) bytes[7] = std::byte{2};
              }),
              HasSubstr("call 0x00000002: version 2, not 1"));
  EXPECT_THAT(why([&](std::span<std::byte> bytes) {
                if (!message(bytes)) bytes[10] ^= std::byte{1};
              }),
              HasSubstr("READ call 0x00000002: corrupted payload"));
}

TEST(RpcSocketsTest, EveryProcedureIsMeasured) {
  ServerThread server;
  for (const auto* procedure : {"null", "read", "write", "readdir", "readlink"}) {
    for (const auto& [threads, completion] : {std::pair{1, "poll"}, {4, "poll"}, {4, "event"}}) {
      Events events;
      const auto parameters =
          quick({{"procedure", procedure}, {"threads", threads}, {"completion", completion}, {"size", 3000}});
      const auto result =
          run_client(towards(server.port(), parameters), *find_workload("rpc"), *find_runner("rpc"), events, -1);
      ASSERT_TRUE(result) << procedure << ": " << result.error().message;
      EXPECT_GT(result->client.metrics.at("operation").samples, 5U);
      EXPECT_EQ(result->client.metrics.at("trips").value, 2);
      EXPECT_EQ(result->client.parameters.count("design"), 0U) << "means nothing over sockets";
      const auto word = std::string{procedure};
      EXPECT_EQ(result->client.metrics.count("throughput"), word == "read" || word == "write" ? 1U : 0U);
    }
  }
}

TEST(RpcSocketsTest, SeveralClientsAreServedTogether) {
  ServerThread server;
  Events events;
  const auto result = run_client(towards(server.port(), quick({{"clients", 5}, {"threads", 2}, {"size", 3000}})),
                                 *find_workload("rpc"), *find_runner("rpc"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->client.metrics.at("operation").samples, 9U);
  EXPECT_EQ(result->client.metrics.at("trips").value, 2);
  const auto refused = run_client(towards(server.port(), quick({{"clients", 64}, {"threads", 128}, {"size", 1 << 20}})),
                                  *find_workload("rpc"), *find_runner("rpc"), events, -1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the server's file would have 32GiB, at most 512MiB"));
}

TEST(RpcSocketsTest, AStoreOnDisksHoldsBackItsReplies) {
  ServerThread server;
  Events events;
  const auto result = run_client(
      towards(server.port(), quick({{"store", "modelled"}, {"cache", 0}, {"seek", 2'000'000}, {"size", 4096}})),
      *find_workload("rpc"), *find_runner("rpc"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  // Its four records lie behind one another: one of four needs a seek.
  const auto waited = result->server.metrics.at("disk_wait").value;
  EXPECT_GT(waited, 3e5);
  EXPECT_LT(waited, 1e6);
  EXPECT_GT(result->client.metrics.at("operation").value, 0);
  EXPECT_EQ(result->server.metrics.at("cached").value, 0);
  const auto asleep = run_client(towards(server.port(), quick({{"store", "modelled"}, {"completion", "event"}})),
                                 *find_workload("rpc"), *find_runner("rpc"), events, -1);
  ASSERT_FALSE(asleep);
  EXPECT_THAT(asleep.error().message, HasSubstr("leave --completion out"));
}

TEST(RpcSocketsTest, APathThatIsTooLongIsRefused) {
  ServerThread server;
  Events events;
  const auto result = run_client(towards(server.port(), quick({{"procedure", "readlink"}, {"size", 5000}})),
                                 *find_workload("rpc"), *find_runner("rpc"), events, -1);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("at most 4096 bytes"));
}

}  // namespace
}  // namespace longhaul::workloads::rpc
