// Transfers over two joined memories: every process, in both directions, and what happens when one end cannot.
#include <gmock/gmock.h>

#include <poll.h>

#include <random>

#include "tests/workloads/fake.hh"
#include "workloads/protocols/frrwp/endpoint.hh"
#include "workloads/protocols/frrwp/engine.hh"
#include "workloads/protocols/frrwp/transfer.hh"

namespace longhaul::workloads::frrwp {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Nanoseconds kPatience = 5s;

/// Both ends' connections, receives posted, as verbs would have them.
struct Wire {
  Wire(std::size_t area, std::size_t longest, bool registers)
      : layout(area),
        plan(plan_of(area, longest, registers)),
        client(total_memory(plan), plan.memory),
        server(total_memory(plan), plan.memory) {
    client.join(server);
    for (auto* end : {&client, &server})
      for (std::uint32_t i = 0; i < plan.receives; ++i)
        end->post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
  }
  Layout layout;
  ConnectionPlan plan;
  FakeConnection client;
  FakeConnection server;
};

struct Table {
  explicit Table(Options of_both, bool engine = false)
      : options(std::move(of_both)), wire(options.reuse.area, options.reuse.longest, options.strategy.registers()) {
    const bool write = options.direction == Direction::write;
    client_port = port(wire.client, engine && write);
    server_port = port(wire.server, engine && !write);
    server = std::make_unique<Transfer>(*server_port, wire.server, wire.layout.buffers, options, Role::server);
    client = std::make_unique<Transfer>(*client_port, wire.client, wire.layout.buffers, options, Role::client);
  }
  bool play() {
    client->start();
    const auto patience = observe::raw_time() + 10s;
    do {
      server->advance();
      if (client->advance()) return true;
    } while (observe::raw_time() < patience);
    return false;
  }
  /// Nothing is on its way any more.
  void settle() const {
    for (int i = 0; i < 100; ++i) {
      server->advance();
      client->advance();
    }
  }
  std::unique_ptr<Port> port(Connection& connection, bool engine) const {
    if (engine) return std::make_unique<Engine>(connection, wire.layout, kPatience, Engine::Waiting::sleep);
    return std::make_unique<Endpoint>(connection, wire.layout, kPatience);
  }
  FakeConnection& source() { return options.direction == Direction::write ? wire.client : wire.server; }

  Options options;
  Wire wire;
  std::unique_ptr<Port> client_port;
  std::unique_ptr<Port> server_port;
  std::unique_ptr<Transfer> server;
  std::unique_ptr<Transfer> client;
};

using Case = std::tuple<Protocol, Direction, std::string, std::size_t>;
class TransferTest : public testing::TestWithParam<Case> {
 protected:
  static Options options() {
    const auto& [protocol, direction, strategy, size] = GetParam();
    return {.protocol = protocol,
            .direction = direction,
            .reuse = Reuse::same(size),
            .strategy = {.strategy = strategy, .capacity = 1 << 20}};
  }
};

TEST_P(TransferTest, TheDataComesAndNothingIsLeft) {
  Table table{options()};
  int closed = 0;
  const auto& [protocol, direction, strategy, size] = GetParam();
  const bool write = direction == Direction::write;
  table.client->on_closed = [&](Tag, const Moments& client, const Moments& server) {
    ++closed;
    const auto& source = write ? client : server;
    const auto& sink = write ? server : client;
    EXPECT_GE(source.posted, client.started);
    EXPECT_GE(sink.arrived, source.posted);
    EXPECT_GT(sink.key_sent, kNever);
    EXPECT_GE(source.key_came, protocol == Protocol::advertised ? client.started : sink.key_sent);
    EXPECT_GE(sink.released, sink.arrived);
    if (protocol != Protocol::advertised && write) {
      EXPECT_EQ(client.registering > client.told, protocol != Protocol::typical) << "START before registration";
    }
  };
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(table.play()) << i;
  EXPECT_EQ(closed, 300);
  table.client->verify_last();
  table.server->verify_last();
  const auto ahead = protocol == Protocol::advertised ? 2U : 0U;
  if (strategy == "each-time") {
    EXPECT_EQ(table.wire.client.registered.live.size() + table.wire.server.registered.live.size(), ahead);
  }
  table.client.reset();
  table.server.reset();
  EXPECT_TRUE(table.wire.client.registered.live.empty());
  EXPECT_TRUE(table.wire.server.registered.live.empty());
}

// Each time: what is preregistered or cached needs no memory on the way.
class TransferWithoutMemory : public TransferTest {};

TEST_P(TransferWithoutMemory, OneEndThatCannotRegisterFailsItAndTheNextWorks) {
  const auto& [protocol, direction, strategy, size] = GetParam();
  for (const bool at_client : {true, false}) {
    Table table{options()};
    ASSERT_TRUE(table.play());
    auto& end = at_client ? table.wire.client : table.wire.server;
    end.registered.room = 0;
    int failed = 0;
    // The sink of an advertised key runs out of memory ahead of need: the transfers before it come about.
    for (int i = 0; i < 3 && failed == 0; ++i) {
      try {
        ASSERT_TRUE(table.play());
      } catch (const TransferFailed& error) {
        ++failed;
        EXPECT_THAT(error.what(), HasSubstr("Cannot allocate memory"));
      }
    }
    EXPECT_EQ(failed, 1) << "it has no memory to register";
    end.registered.room = ~std::uint64_t{0};
    table.settle();
    for (int i = 0; i < 6; ++i) {
      try {
        ASSERT_TRUE(table.play()) << i;
      } catch (const TransferFailed&) {
        ASSERT_LT(++failed, 4) << "what had been refused ahead of need, and no more";
      }
    }
    ASSERT_TRUE(table.play());
    const auto ahead = protocol == Protocol::advertised ? 2U : 0U;
    EXPECT_EQ(table.wire.client.registered.live.size() + table.wire.server.registered.live.size(), ahead)
        << "no region is left, and no credit lost";
  }
}

auto cases(std::vector<std::string> strategies) {
  return testing::Combine(testing::Values(Protocol::typical, Protocol::frrwp, Protocol::crw, Protocol::advertised),
                          testing::Values(Direction::write, Direction::read), testing::ValuesIn(std::move(strategies)),
                          testing::Values(std::size_t{1}, std::size_t{10'000}));
}
INSTANTIATE_TEST_SUITE_P(All, TransferTest, cases({"preregistered", "each-time", "mrrc"}));
INSTANTIATE_TEST_SUITE_P(All, TransferWithoutMemory, cases({"each-time"}));

TEST(TransferEngineTest, AnEngineWritesWhileTheApplicationComputes) {
  const Computation computation{2ms};
  for (const auto direction : {Direction::write, Direction::read}) {
    Options options{.protocol = Protocol::crw,
                    .direction = direction,
                    .reuse = Reuse::same(4096),
                    .strategy = {.strategy = "each-time"},
                    .computation = &computation};
    Table table{options, true};
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(table.play()) << i;
    table.client->verify_last();
    table.server->verify_last();
    EXPECT_EQ((direction == Direction::write ? table.client : table.server)->computations().count(), 50U);
  }
}

TEST(TransferPairTest, EverySecondTransferIsTypical) {
  for (const auto protocol : {Protocol::frrwp, Protocol::crw}) {
    Table table{
        {.protocol = protocol, .reuse = Reuse::same(4096), .strategy = {.strategy = "each-time"}, .paired = true}};
    table.client->on_closed = [&](Tag tag, const Moments& client, const Moments&) {
      EXPECT_EQ(client.registering > client.told, tag % 2 == 0) << "START before registration";
    };
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(table.play()) << i;
  }
}

TEST(TransferFaultTest, CorruptedDataIsNoticed) {
  Table table{{.reuse = Reuse::same(64)}};
  table.wire.client.tamper = [](std::span<std::byte> bytes) {
    if (bytes.size() == 64) bytes.front() ^= std::byte{1};
  };
  EXPECT_THROW(table.play(), std::runtime_error);
}

// --- one end by hand, the other an endpoint -------------------------------------------------------------------------

struct Ends {
  explicit Ends(Nanoseconds patience = kPatience)
      : wire(1 << 20, 4096, false),
        source(wire.client, wire.layout, patience),
        sink(wire.server, wire.layout, kPatience) {}
  WriteOrder order(Tag tag, std::size_t length = 4096) const {
    return {tag, {{wire.layout.buffers, length, {}}}, wire.layout.buffers, length};
  }
  Message stcrw(Tag tag, std::size_t length = 4096) const {
    return {.kind = Kind::stcrw,
            .tag = tag,
            .length = length,
            .segments = {{wire.layout.buffers, static_cast<std::uint32_t>(length), 0}},
            .moments = {},
            .reason = {}};
  }
  static std::vector<Event> drain(Port& port) {
    std::vector<Event> events;
    while (auto event = port.next()) events.push_back(std::move(*event));
    return events;
  }
  Wire wire;
  Endpoint source;
  Endpoint sink;
};

TEST(EndpointTest, TagsOutOfOrder) {
  Ends ends;
  for (const Tag tag : {1, 2, 3}) ends.source.hold(ends.order(tag));
  for (const Tag tag : {3, 1, 2}) ends.sink.send(ends.stcrw(tag));
  std::vector<Tag> posted;
  for (const auto& event : Ends::drain(ends.source))
    if (event.kind == Event::Kind::posted) posted.push_back(event.tag);
  EXPECT_EQ(posted, (std::vector<Tag>{3, 1, 2}));
  std::vector<Tag> came;
  for (const auto& event : Ends::drain(ends.sink)) came.push_back(event.message.tag);
  EXPECT_EQ(came, posted) << "each with its FIN";
}

TEST(EndpointTest, DuplicateStaleAndWrongKeysAreToldToThePeer) {
  Ends ends;
  ends.source.hold(ends.order(1));
  ends.sink.send(ends.stcrw(1));
  ends.sink.send(ends.stcrw(1));
  ends.source.hold(ends.order(2, 1024));
  ends.sink.send(ends.stcrw(2));
  std::vector<std::string> failed;
  for (const auto& event : Ends::drain(ends.source))
    if (event.kind == Event::Kind::failed) failed.push_back(event.reason);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_THAT(failed.front(), HasSubstr("4096 bytes"));
  std::vector<std::string> refused;
  for (const auto& event : Ends::drain(ends.sink))
    if (event.message.kind == Kind::refuse) refused.push_back(event.message.reason);
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_THAT(refused[0], HasSubstr("tag 1 is over"));
  EXPECT_THAT(refused[1], HasSubstr("tag 2"));
  // Both are usable again.
  ends.source.hold(ends.order(3));
  ends.sink.send(ends.stcrw(3));
  EXPECT_EQ(Ends::drain(ends.source).front().kind, Event::Kind::posted);
}

TEST(EndpointTest, AKeyThatNeverComesTimesOut) {
  Ends ends{20ms};
  ends.source.hold(ends.order(1));
  ends.sink.send(ends.stcrw(77));
  const auto patience = observe::raw_time() + 5s;
  std::vector<Event> failed;
  while (failed.empty() && observe::raw_time() < patience) failed = Ends::drain(ends.source);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_THAT(failed.front().reason, HasSubstr("no key for it came within 20ms"));
  EXPECT_EQ(ends.source.held(), 0U);
  while (observe::raw_time() < patience && ends.source.deadline()) Ends::drain(ends.source);
  std::vector<std::string> refused;
  for (const auto& event : Ends::drain(ends.sink)) refused.push_back(event.message.reason);
  EXPECT_THAT(refused, testing::UnorderedElementsAre(HasSubstr("no key for it"), HasSubstr("tag 77 is not known")));
}

TEST(EndpointTest, APeerThatTakesNothingIsNotOverrun) {
  Ends ends;
  constexpr Tag kMany = 1000;
  for (Tag tag = 1; tag <= kMany; ++tag) ends.sink.send(ends.stcrw(tag));
  Tag posted = 0;
  for (Tag tag = 1; tag <= kMany; ++tag) {
    ends.source.hold(ends.order(tag));
    for (const auto& event : Ends::drain(ends.source)) posted += event.kind == Event::Kind::posted ? 1 : 0;
    Ends::drain(ends.sink);
  }
  for (int i = 0; i < 100; ++i) {
    for (const auto& event : Ends::drain(ends.source)) posted += event.kind == Event::Kind::posted ? 1 : 0;
    Ends::drain(ends.sink);
  }
  EXPECT_EQ(posted, kMany);
}

class EngineTest : public testing::TestWithParam<Engine::Waiting> {};

// Its next event, if one comes within seconds.
std::optional<Event> await(Engine& engine) {
  std::optional<Event> event;
  for (const auto patience = observe::raw_time() + 5s; !event && observe::raw_time() < patience;) event = engine.next();
  return event;
}

TEST_P(EngineTest, TenThousandOutstandingAndNoneIsLost) {
  constexpr Tag kMany = 10'000;
  Wire wire{1 << 16, 64, false};
  std::vector<Tag> tags(kMany);
  for (Tag i = 0; i < kMany; ++i) tags[i] = i + 1;
  Engine source{wire.client, wire.layout, 60s, GetParam()};
  Endpoint sink{wire.server, wire.layout, kPatience};
  for (const auto tag : tags) source.hold({tag, {{wire.layout.buffers, 64, {}}}, wire.layout.buffers, 64});
  // A key that comes before its order waits for it, and then goes behind others. The engine takes what it is given in
  // order: once it has cancelled a last one it has all.
  source.hold({kMany + 1, {{wire.layout.buffers, 64, {}}}, wire.layout.buffers, 64});
  source.cancel(kMany + 1);
  const auto cancelled = await(source);
  ASSERT_TRUE(cancelled);
  ASSERT_THAT(cancelled->reason, HasSubstr("cancelled"));
  std::shuffle(tags.begin(), tags.end(), std::mt19937{7});
  for (const auto tag : tags)
    sink.send({.kind = Kind::stcrw,
               .tag = tag,
               .length = 64,
               .segments = {{wire.layout.buffers, 64, 0}},
               .moments = {},
               .reason = {}});
  std::vector<Tag> fins;
  std::size_t posted = 0;
  std::size_t written = 0;
  const auto patience = observe::raw_time() + 60s;
  while ((fins.size() < kMany || written < kMany) && observe::raw_time() < patience) {
    while (auto event = sink.next())
      if (event->message.kind == Kind::fin) fins.push_back(event->message.tag);
    while (auto event = source.next()) {
      posted += event->kind == Event::Kind::posted ? 1U : 0U;
      written += event->kind == Event::Kind::written ? 1U : 0U;
    }
  }
  EXPECT_EQ(posted, kMany);
  EXPECT_EQ(written, kMany);
  EXPECT_EQ(fins, tags) << "each once, in the order of the keys";
}

TEST_P(EngineTest, AnApplicationThatSleepsIsWoken) {
  Wire wire{1 << 16, 64, false};
  Engine source{wire.client, wire.layout, kPatience, GetParam()};
  Endpoint sink{wire.server, wire.layout, kPatience};
  source.hold({1, {{wire.layout.buffers, 64, {}}}, wire.layout.buffers, 64});
  ASSERT_TRUE(source.waitable().arm());
  sink.send({.kind = Kind::stcrw,
             .tag = 1,
             .length = 64,
             .segments = {{wire.layout.buffers, 64, 0}},
             .moments = {},
             .reason = {}});
  pollfd fd{source.waitable().event_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 5000), 1);
  EXPECT_EQ(source.next()->kind, Event::Kind::posted);
}

TEST_P(EngineTest, CancelledAndThenKeyed) {
  Wire wire{1 << 16, 64, false};
  Engine source{wire.client, wire.layout, kPatience, GetParam()};
  source.hold({1, {{wire.layout.buffers, 64, {}}}, wire.layout.buffers, 64});
  source.cancel(1);
  const auto event = await(source);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::Kind::failed);
  EXPECT_THAT(event->reason, HasSubstr("cancelled"));
}

TEST_P(EngineTest, WhatBreaksTheConnectionReachesTheApplication) {
  Wire wire{1 << 16, 64, false};
  Engine source{wire.client, wire.layout, kPatience, GetParam()};
  std::memset(wire.server.memory().data(), 0xff, 64);
  wire.server.post({.operation = Operation::send, .local = 0, .length = 64});  // no message of ours
  const auto patience = observe::raw_time() + 5s;
  const auto wait = [&] {
    while (observe::raw_time() < patience) source.next();
  };
  EXPECT_THROW(wait(), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Both, EngineTest, testing::Values(Engine::Waiting::spin, Engine::Waiting::sleep));

}  // namespace
}  // namespace longhaul::workloads::frrwp
