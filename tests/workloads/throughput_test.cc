#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

#include "observe/clock.hh"
#include "tests/workloads/ends.hh"
#include "tests/workloads/fake.hh"
#include "workloads/harness/runner.hh"
#include "workloads/protocols/stream.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads::stream {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Meter, CountsFromTheFirstArrivalToTheLast) {
  Meter meter;
  EXPECT_EQ(meter.rate(), 0);
  meter.count(1000, observe::from_ns(5'000));
  EXPECT_EQ(meter.rate(), 0);
  meter.count(1000, observe::from_ns(6'000));
  meter.count(1000, observe::from_ns(7'000));
  EXPECT_DOUBLE_EQ(meter.rate(), 2000 * 8e9 / 2'000);  // the first one only starts the clock
  EXPECT_EQ(meter.arrivals(), 3U);
  meter.reset();
  EXPECT_EQ(meter.arrivals(), 0U);
}

// Eight lanes, each of which ends an operation a round trip: all in a burst, or half of them half a round trip later.
TEST(Meter, WhatLanesMakeIsTheSumOfThemHoweverItComes) {
  constexpr std::int64_t kRoundTrip = 40'000'000;
  const double each = 1000 * 8e9 / kRoundTrip;
  for (const auto apart : {std::int64_t{0}, kRoundTrip / 2}) {
    for (const int rounds : {2, 3, 10}) {
      std::vector<Meter> lanes(8);
      Meter one;
      for (int round = 1; round <= rounds; ++round) {
        for (std::size_t i = 0; i < lanes.size(); ++i) {
          const auto when = observe::from_ns(round * kRoundTrip + (i < 4 ? 0 : apart));
          lanes[i].count(1000, when);
          one.count(1000, when);
        }
      }
      EXPECT_DOUBLE_EQ(rate_of(lanes), 8 * each) << rounds;
      EXPECT_EQ(arrivals_of(lanes), 8U * static_cast<unsigned>(rounds));
      EXPECT_GT(one.rate(), (apart > 0 ? 8.3 : 8.7) * each) << "one meter of all: from the first burst to the last";
    }
  }
}

// A lane that reads eight records ahead: they come in a burst of its own.
TEST(Meter, ARoundThatComesInABurstIsNoRate) {
  constexpr std::int64_t kRoundTrip = 40'000'000;
  const auto rate = [&](std::size_t round, int bursts) {
    Meter meter{round};
    for (int burst = 1; burst <= bursts; ++burst)
      for (int i = 0; i < 8; ++i) meter.count(1000, observe::from_ns(burst * kRoundTrip + i));
    return meter.rate();
  };
  const double honest = 8 * 1000 * 8e9 / kRoundTrip;
  for (const int bursts : {2, 3, 10}) EXPECT_NEAR(rate(8, bursts), honest, honest * 1e-6) << bursts;
  EXPECT_NEAR(rate(1, 2), honest * 15 / 8, honest * 1e-6) << "from the first arrival on";
  // What comes evenly is the same either way.
  Meter even{8};
  for (int i = 0; i < 40; ++i) even.count(1000, observe::from_ns(1'000'000 * i));
  EXPECT_DOUBLE_EQ(even.rate(), 1000 * 8e9 / 1'000'000);
  // Before the end of the second round all that came is counted.
  Meter few{8};
  for (int i = 0; i < 15; ++i) few.count(1000, observe::from_ns(1'000'000 * i));
  EXPECT_DOUBLE_EQ(few.rate(), 1000 * 8e9 / 1'000'000);
}

// All 64 that are under way end when the poster, which was busy with posting, looks again.
TEST(Meter, IsTheEndsOwnWhenItsWindowOpens) {
  Meter meter;
  meter.reset(64);
  for (int burst = 1; burst <= 4; ++burst)
    for (int i = 0; i < 64; ++i) meter.count(1000, observe::from_ns(burst * 80'000'000));
  EXPECT_DOUBLE_EQ(meter.rate(), 64 * 1000 * 8e9 / 80'000'000);
}

TEST(Meter, HasEnoughWithFourRoundsOrTwoLongOnes) {
  Meter meter{4};
  meter.count(1000, observe::from_ns(1'000), 15);
  EXPECT_FALSE(meter.enough());
  meter.count(1000, observe::from_ns(2'000));
  EXPECT_TRUE(meter.enough());
  Meter slow{4};
  slow.count(1000, observe::from_ns(1'000'000'000), 4);
  slow.count(1000, observe::from_ns(2'000'000'000), 3);
  EXPECT_FALSE(slow.enough());
  slow.count(1000, observe::from_ns(2'000'000'001));
  EXPECT_TRUE(slow.enough());
}

TEST(Meter, OfManyLanesFourRoundsAreEnough) {
  const auto enough = rounds(8, 2);
  EXPECT_FALSE(enough(8 * 2 * 4 - 1));
  EXPECT_TRUE(enough(8 * 2 * 4));
}

// Nothing that the look found which ended the round came after it.
TEST(Meter, ARoundEndsWithTheLookThatSeesItsEnd) {
  Meter meter;
  meter.reset(30);
  for (int look = 1; look <= 9; ++look) meter.count(1000, observe::from_ns(look * 18'000'000), 14);
  EXPECT_EQ(meter.arrivals(), 126U);
  EXPECT_DOUBLE_EQ(meter.rate(), 14 * 1000 * 8e9 / 18'000'000);
}

// What the sender's socket took is not what came.
TEST(Meter, CountsUntilAllIsThere) {
  Meter meter;
  meter.reset(2);
  for (int i = 1; i <= 6; ++i) meter.count(1000, observe::from_ns(i * 1'000'000));
  meter.there_at(observe::from_ns(10'000'000));
  EXPECT_DOUBLE_EQ(meter.rate(), 4 * 1000 * 8e9 / 8'000'000);
  meter.there_at(observe::from_ns(1'000'000));
  EXPECT_DOUBLE_EQ(meter.rate(), 4 * 1000 * 8e9 / 8'000'000);
}

struct Table {
  explicit Table(const Options& options)
      : plan(*plan_of(options, Role::client, 1)), client(plan.memory), server(plan.memory) {
    client.join(server);
    plan.prepare = plan_of(options, options.op == "read" ? Role::server : Role::client, 1)->prepare;
    plan.prepare((options.op == "read" ? server : client).memory());
  }
  ConnectionPlan plan;
  FakeConnection client;
  FakeConnection server;
};

class StreamTest : public testing::TestWithParam<const char*> {};

TEST_P(StreamTest, ArrivesWholeAndKeepsItsQueueFull) {
  const Options options{.op = GetParam(), .size = 5000, .depth = 8};
  Table table{options};
  Meter meter;
  Poster poster{table.client, options, meter};
  // The double tells of no queue: one is under way at a time.
  EXPECT_EQ(poster.depth(), 1U);
  for (int i = 0; i < 30; ++i) {
    poster.start();
    EXPECT_FALSE(poster.idle());
    ASSERT_TRUE(poster.advance());
    EXPECT_TRUE(poster.idle());
  }
  EXPECT_EQ(meter.arrivals(), 30U);
  stream::Poster* const posters[] = {&poster};
  if (options.op == "write") flush(posters, std::chrono::seconds{1});
  auto& target = options.op == std::string{"read"} ? table.client : table.server;
  EXPECT_NO_THROW(verify(target.memory(), options));
  target.memory()[123] ^= std::byte{1};
  EXPECT_THROW(verify(target.memory(), options), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Operations, StreamTest, testing::Values("write", "read"));

// Over iWARP a write is complete when the sender's socket has taken it: 20 messages of 1000 bytes before the first
// round is known to be in place, of which 12 were posted before that was asked.
TEST(Meter, WhatIsToBeInPlaceCountsFromAnAnswerToAnAnswer) {
  Meter meter;
  meter.reset(2);
  meter.count(1000, observe::from_ns(1'000'000), 20);
  meter.begin_behind(12, 1000, observe::from_ns(5'000'000));
  meter.count(1000, observe::from_ns(6'000'000), 10);
  meter.there_at(observe::from_ns(10'000'000));
  EXPECT_DOUBLE_EQ(meter.rate(), 18 * 1000 * 8e9 / 5'000'000);
}

TEST(Stream, AsksForWhatIsToBeInPlaceWhenTheFirstRoundIsOverAndAtTheEnd) {
  const Options options{.op = "write", .size = 5000, .depth = 8, .in_place = true};
  Table table{options};
  const auto reads = [&] {
    return std::count_if(table.client.posted.begin(), table.client.posted.end(),
                         [](const Request& one) { return one.operation == Operation::read; });
  };
  Meter meter;
  Poster poster{table.client, options, meter};
  for (int phase = 0; phase < 2; ++phase) {
    table.client.posted.clear();
    poster.reset();
    table.client.hold = Completion::Kind::fetched;
    // A round is two messages here.
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(reads(), i < 2 ? 0 : 1);
      poster.start();
      ASSERT_TRUE(poster.advance());
    }
    EXPECT_EQ(meter.arrivals(), 10U);
    EXPECT_FALSE(poster.idle()) << "an answer is to come";
    EXPECT_FALSE(poster.enough());
    table.client.hold.reset();
    ASSERT_TRUE(poster.advance());
    EXPECT_TRUE(poster.idle());
    EXPECT_TRUE(poster.enough());
    EXPECT_FALSE(poster.advance());
    EXPECT_EQ(reads(), 1);
  }
  stream::Poster* const posters[] = {&poster};
  flush(posters, std::chrono::seconds{1});
  EXPECT_EQ(reads(), 2);
  EXPECT_GT(meter.rate(), 0);
  EXPECT_NO_THROW(verify(table.server.memory(), options));
}

// What has arrived, on this connection or another of the thread, does not wait for a whole queue to be filled.
TEST(Stream, LooksAfterEachMessageThatItPosts) {
  const Options options{.op = "write", .size = 64, .depth = 8};
  Table table{options};
  table.client.queue_depth = 100;
  table.client.hold = Completion::Kind::sent;
  Meter meter;
  Poster poster{table.client, options, meter};
  poster.start();
  for (std::size_t posted = 1; posted < options.depth; ++posted) {
    EXPECT_EQ(table.client.posted.size(), posted);
    EXPECT_FALSE(poster.advance());
  }
  EXPECT_FALSE(poster.advance());
  EXPECT_EQ(table.client.posted.size(), options.depth) << "the queue is full";
  table.client.hold.reset();
  EXPECT_TRUE(poster.advance());
  EXPECT_EQ(meter.arrivals(), options.depth);
  // A window that is over starts no lane any more.
  EXPECT_TRUE(poster.idle());
  EXPECT_FALSE(poster.advance());
  EXPECT_EQ(table.client.posted.size(), options.depth);
}

// One thread posts for all. In the median of nine windows, for the host may be busy.
TEST(Stream, SeveralAreCountedAsFastAsTheyArePosted) {
  constexpr std::size_t kStreams = 4;
  const Options options{.op = "write", .size = 64, .depth = 8};
  std::vector<double> ratios;
  for (int window = 0; window < 9; ++window) {
    std::deque<Table> tables;
    std::vector<Meter> meters(kStreams);
    Lanes lanes;
    Nanoseconds posting{};
    std::uint64_t posts = 0;
    for (auto& meter : meters) {
      auto& client = tables.emplace_back(options).client;
      client.queue_depth = 100;
      client.tamper = [&](std::span<std::byte>) {
        const auto begun = observe::raw_time();
        while (observe::raw_time() - begun < std::chrono::microseconds{200}) {
        }
        posting += observe::raw_time() - begun;
        ++posts;
      };
      lanes.push_back(std::make_unique<Poster>(client, options, meter));
    }
    LoopOptions loop;
    loop.count = [&] { return arrivals_of(meters); };
    run_operations(lanes, Window{Nanoseconds{}, 2 * 2 * options.depth * kStreams}, loop);
    ratios.push_back(rate_of(meters) / (8 * 64 * static_cast<double>(posts) / ratio(posting, std::chrono::seconds{1})));
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_NEAR(ratios[4], 1, 0.05);
}

class StreamStrategy : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

// The fake adapter refuses every byte that is not registered at that moment.
TEST_P(StreamStrategy, MessagesAreRegisteredWhileTheyAreUnderWay) {
  const auto& [op, strategy] = GetParam();
  const Options options{.op = op, .size = 5000, .depth = 8, .strategy = {.strategy = strategy, .capacity = 80'000}};
  const auto client_plan = *plan_of(options, Role::client, 1);
  const auto server_plan = *plan_of(options, Role::server, 1);
  FakeConnection client{total_memory(client_plan), client_plan.memory};
  FakeConnection server{total_memory(server_plan), server_plan.memory};
  client.join(server);
  for (const auto& [plan, end] : {std::pair{&client_plan, &client}, {&server_plan, &server}})
    if (plan->prepare) plan->prepare(end->memory());
  Meter meter;
  {
    Poster poster{client, options, meter};
    for (int i = 0; i < 50; ++i) {
      poster.start();
      ASSERT_TRUE(poster.advance());
      EXPECT_TRUE(poster.idle());
    }
    EXPECT_EQ(meter.arrivals(), 50U);
    EXPECT_EQ(poster.registrations()->requests, 50U);
    EXPECT_EQ(poster.registrations()->hits > 0, strategy != std::string{"each-time"});
  }
  EXPECT_TRUE(client.registered.live.empty());
  if (op == std::string{"read"})
    EXPECT_NO_THROW(verify(client.memory().subspan(slots_offset(options)), options));
  else
    EXPECT_NO_THROW(verify(server.memory(), options));
}

INSTANTIATE_TEST_SUITE_P(Strategies, StreamStrategy,
                         testing::Combine(testing::Values("write", "read"),
                                          testing::Values("each-time", "pin-down", "mrrc", "best")));

TEST(Stream, WhatIsSentIsRegisteredOnce) {
  const auto plan = plan_of({.op = "send", .size = 100, .strategy = {.strategy = "mrrc"}}, Role::client, 1);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().status, Status::unsupported);
}

TEST(Stream, SendsNoMoreThanTheReceiverHasRoomFor) {
  const Options options{.op = "send", .size = 100, .depth = 8};
  const auto plan = *plan_of(options, Role::server, 1);
  EXPECT_EQ(plan.receives, 8U);
  EXPECT_EQ(plan.memory, credit_offset(options) + 8);
  Table table{options};
  for (std::size_t i = 0; i < plan.receives; ++i) table.server.post_receive(i * plan.receive_stride, options.size);
  Meter sent;
  Meter received;
  Poster poster{table.client, options, sent};
  Receiver receiver{table.server, options, received};
  const auto send_all = [&] {
    poster.start();
    while (poster.advance()) poster.start();
  };
  // The double throws where a send finds no receive.
  send_all();
  EXPECT_EQ(sent.arrivals(), 8U);
  EXPECT_TRUE(poster.idle());
  for (int i = 0; i < 100; ++i) {
    while (receiver.advance()) {
    }
    send_all();
  }
  EXPECT_EQ(received.arrivals(), 8U * 100);
  EXPECT_EQ(sent.arrivals(), 8U * 101);
  table.server.memory()[0] ^= std::byte{1};
  EXPECT_THROW(receiver.advance(), std::runtime_error);
}

TEST(Stream, APacedPosterKeepsItsRate) {
  const Options options{.op = "write", .size = 64, .depth = 4, .interval = std::chrono::milliseconds{2}};
  Table table{options};
  Meter meter;
  Poster poster{table.client, options, meter};
  const auto begun = observe::raw_time();
  poster.start();
  while (meter.arrivals() < 40)
    if (poster.advance()) poster.start();
  EXPECT_GE(observe::raw_time() - begun, 39 * options.interval);
}

TEST(Stream, AnEmptyTargetIsNoSuccess) {
  const Options options{.op = "write", .size = 64, .depth = 4};
  const std::vector<std::byte> nothing(slots_of(options) * options.size);
  EXPECT_THROW(verify(nothing, options), std::runtime_error);
}

TEST(Stream, MemoryIsBounded) {
  EXPECT_EQ(slots_of({.op = "write", .size = 1, .depth = 0}), 1024U);
  EXPECT_EQ(slots_of({.op = "write", .size = 4 << 20, .depth = 0}), 8U);
  EXPECT_EQ(slots_of({.op = "write", .size = 64, .depth = 5}), 5U);
}

TEST(StreamLimit, IsNamedWhereTheWindowIsReached) {
  const auto limit = [](const char* provider, double mbit, std::int64_t streams = 1) {
    return stream_limit(BitRate{static_cast<std::int64_t>(mbit * 1e6)},
                        stream_ceiling(provider, Nanoseconds{20'000'000}, Bytes{1'000'000}, Bytes{1024}, streams));
  };
  EXPECT_THAT(limit("siw", 300), IsEmpty());  // 400 Mbit/s would be the window's
  EXPECT_THAT(limit("siw", 390), HasSubstr("a window of 1000000 bytes over a round trip of 20ms lets 400 Mbit/s"));
  EXPECT_THAT(limit("rxe", 50), HasSubstr("rxe's window of 128 packets of 1024 bytes"));
  EXPECT_THAT(limit("rxe", 50, 4), IsEmpty());
  const auto none = stream_ceiling("siw", Nanoseconds{0}, Bytes{1}, Bytes{1024}, 1);
  EXPECT_EQ(none.rate.bits_per_second, 0);
  EXPECT_THAT(stream_limit(BitRate{1}, none), IsEmpty());
}

// Much more than sockets buffer (tcp_rmem, tcp_wmem: 36 MiB here), however slow the machine is at the moment.
constexpr std::int64_t kWindowBytes = std::int64_t{256} << 20;

class ThroughputRun : public testing::TestWithParam<std::tuple<std::int64_t, std::int64_t>> {};

TEST_P(ThroughputRun, IsMeasuredAtTheReceiver) {
  const auto& [size, streams] = GetParam();
  ServerThread server;
  Events events;
  const auto result = run_client(towards(server.port(), quick({{"size", size},
                                                               {"streams", streams},
                                                               {"duration", 100'000'000},
                                                               {"min_samples", kWindowBytes / size}})),
                                 *find_workload("throughput"), *find_runner("throughput"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->client.metrics.at("ceiling").value, 0);
  const auto& metric = result->server.metrics.at("throughput");
  EXPECT_GT(metric.samples, 10U);
  // As much as TCP itself counts, but for what was in the sockets' buffers at either end of the window.
  const auto bytes = static_cast<double>(metric.samples) * static_cast<double>(size);
  const auto counted = result->server.transport->counters.at("tcp_bytes_received");
  EXPECT_NEAR(bytes / counted, 1, 0.3);
  EXPECT_GT(metric.value, 1e6);
}

INSTANTIATE_TEST_SUITE_P(Loopback, ThroughputRun,
                         testing::Values(std::tuple{1024, 1}, std::tuple{65536, 1}, std::tuple{65536, 4},
                                         std::tuple{4 << 20, 2}));

}  // namespace
}  // namespace longhaul::workloads::stream
