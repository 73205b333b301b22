#include "workloads/protocols/rendezvous.hh"

#include <gmock/gmock.h>

#include "tests/workloads/ends.hh"
#include "tests/workloads/fake.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::workloads::rendezvous {
namespace {

using testing::HasSubstr;

Options options_of(Protocol protocol, std::size_t size) {
  return {.protocol = protocol, .reuse = Reuse::same(size)};
}

// Both ends over two joined memories, as verbs: the ring is posted before anything is sent.
struct Table {
  Table(Protocol protocol, std::size_t size) : Table(options_of(protocol, size)) {}
  explicit Table(Options of_both)
      : options(std::move(of_both)),
        plan(*plan_of(options)),
        client_end(total_memory(plan), plan.memory),
        server_end(total_memory(plan), plan.memory) {
    client_end.join(server_end);
    for (auto* end : {&client_end, &server_end})
      for (std::uint32_t i = 0; i < plan.receives; ++i)
        end->post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
    client = std::make_unique<Exchange>(client_end, options, Role::client);
    server = std::make_unique<Exchange>(server_end, options, Role::server);
  }
  bool play() {
    client->start();
    for (int i = 0; i < 10; ++i) {
      server->advance();
      if (client->advance()) return true;
    }
    return false;
  }
  Options options;
  ConnectionPlan plan;
  FakeConnection client_end;
  FakeConnection server_end;
  std::unique_ptr<Exchange> client;
  std::unique_ptr<Exchange> server;
};

class RendezvousTest : public testing::TestWithParam<std::tuple<Protocol, std::size_t>> {};

TEST_P(RendezvousTest, MessagesGoToAndFroAndTripsAreCounted) {
  const auto& [protocol, size] = GetParam();
  Table table{protocol, size};
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(table.play()) << i;
  table.client->verify_last();
  table.server->verify_last();
  EXPECT_EQ(table.client->operations(), 600U);
  EXPECT_EQ(table.client->trips(), 600U * (protocol == Protocol::eager ? 1 : 3));
  table.client->reset();
  EXPECT_EQ(table.client->trips(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Protocols, RendezvousTest,
                         testing::Combine(testing::Values(Protocol::eager, Protocol::write, Protocol::read),
                                          testing::Values(std::size_t{1}, std::size_t{64}, std::size_t{5000})));

std::vector<Operation> operations(Protocol protocol) {
  Table table{protocol, 64};
  EXPECT_TRUE(table.play());
  std::vector<Operation> all;
  for (const auto& request : table.client_end.posted) all.push_back(request.operation);
  return all;
}

TEST(Rendezvous, SequencesAreThePapers) {
  using enum Operation;
  // The client sends its message, then receives the server's.
  EXPECT_THAT(operations(Protocol::eager), testing::ElementsAre(send));
  EXPECT_THAT(operations(Protocol::write), testing::ElementsAre(send, write, send, send));  // START, data, FIN; REPLY
  EXPECT_THAT(operations(Protocol::read), testing::ElementsAre(send, read, send));          // START; read, FIN
}

Parameters reusing(const char* how, std::int64_t size, std::int64_t buffers) {
  return {{"reuse", std::string{how}}, {"size", size}, {"buffers", buffers}};
}

class RendezvousStrategy : public testing::TestWithParam<std::tuple<Protocol, const char*, const char*>> {};

// The fake adapter refuses every byte that is not registered at that moment.
TEST_P(RendezvousStrategy, EveryBufferIsRegisteredWhileItIsUsed) {
  const auto& [protocol, strategy, how] = GetParam();
  auto options = options_of(protocol, 1);
  options.reuse = *reuse_of(*find_workload("rendezvous"), reusing(how, 20'000, 16));
  options.strategy = {.strategy = strategy, .capacity = 256 << 10};
  for (const bool pipelining : {false, true}) {
    options.pipelining = pipelining;
    Table table{options};
    for (int i = 0; i < 600; ++i) ASSERT_TRUE(table.play()) << i;
    table.client->verify_last();
    table.server->verify_last();
    EXPECT_EQ(table.client->trips(), 600U * 3);
    ASSERT_TRUE(table.client->registrations());
    EXPECT_EQ(table.client->registrations()->requests, 1200U);
    EXPECT_EQ(table.client->registrations()->hits > 0, strategy != std::string{"each-time"});
    table.client.reset();
    table.server.reset();
    EXPECT_TRUE(table.client_end.registered.live.empty());
    EXPECT_TRUE(table.server_end.registered.live.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, RendezvousStrategy,
                         testing::Combine(testing::Values(Protocol::write, Protocol::read),
                                          testing::Values("each-time", "pin-down", "mrrc", "best"),
                                          testing::Values("same", "anywhere", "httpd", "cello92")));

TEST(Rendezvous, WithPipeliningTheCoveredPartIsFetchedBeforeTheRestIsRegistered) {
  auto options = options_of(Protocol::read, 1);
  // The second message begins where the first does and is longer.
  options.reuse = {{{0, 8192}, {0, 16384}}, 16384, 16384, false};
  options.strategy = {.strategy = "pin-down", .capacity = 1 << 20};
  options.pipelining = true;
  Table table{options};
  ASSERT_TRUE(table.play());
  const auto before = table.client_end.posted.size();
  std::vector<std::size_t> fetched_when_registering;
  const auto fetches = [&] {
    return static_cast<std::size_t>(std::count_if(table.client_end.posted.begin() + static_cast<std::ptrdiff_t>(before),
                                                  table.client_end.posted.end(),
                                                  [](const Request& r) { return r.operation == Operation::read; }));
  };
  table.client_end.registered.on_add = [&](registration::Pages) { fetched_when_registering.push_back(fetches()); };
  ASSERT_TRUE(table.play());
  // First the rest of its source, before anything is under way; then the rest of where the answer goes.
  EXPECT_THAT(fetched_when_registering, testing::ElementsAre(0U, 1U));
  EXPECT_EQ(fetches(), 2U);
}

TEST(Rendezvous, EagerMessagesNeedNoStrategy) {
  auto options = options_of(Protocol::eager, 64);
  options.strategy.strategy = "mrrc";
  const auto plan = plan_of(options);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().status, Status::unsupported);
  EXPECT_THAT(plan.error().message, HasSubstr("--strategy mrrc"));
}

TEST(Rendezvous, WhatCannotBeRegisteredIsSaid) {
  auto options = options_of(Protocol::write, 64 << 10);
  options.strategy = {.strategy = "mrrc", .capacity = 1 << 20};
  Table table{options};
  table.server_end.registered.room = 8;
  try {
    table.play();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("register 64 KiB"));
    EXPECT_THAT(error.what(), HasSubstr("ulimit -l"));
  }
}

TEST(Rendezvous, ACorruptedMessageIsFound) {
  Table table{Protocol::write, 64};
  ASSERT_TRUE(table.play());
  table.server_end.tamper = [](std::span<std::byte> bytes) {
    if (bytes.size() == 64) bytes[0] ^= std::byte{1};
  };
  EXPECT_THROW(table.play(), std::runtime_error);
}

TEST(Rendezvous, AMessageOutOfTurnIsNamed) {
  Table table{Protocol::write, 64};
  table.client_end.tamper = [](std::span<std::byte> bytes) { bytes[0] = std::byte{4}; };
  table.client->start();
  try {
    table.server->advance();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the peer sent FIN where START was due"));
  }
}

TEST(Rendezvous, NothingIsReadOverSockets) {
  const auto plan = plan_of({.protocol = Protocol::read, .reuse = Reuse::same(64), .stream = true});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().status, Status::unsupported);
}

class RendezvousRun : public testing::TestWithParam<std::tuple<const char*, std::int64_t>> {};

TEST_P(RendezvousRun, MeasuresOverTcp) {
  const auto& [protocol, size] = GetParam();
  ServerThread server;
  Events events;
  const auto result = run_client(towards(server.port(), quick({{"protocol", protocol}, {"size", size}})),
                                 *find_workload("rendezvous"), *find_runner("rendezvous"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->client.metrics.at("transfer").samples, 10U);
  EXPECT_EQ(result->client.metrics.at("trips").value, protocol == std::string{"eager"} ? 1 : 3);
}

INSTANTIATE_TEST_SUITE_P(Protocols, RendezvousRun,
                         testing::Combine(testing::Values("eager", "write"), testing::Values(1, 64, 100'000, 4 << 20)));

TEST(Rendezvous, PredictsTheTrips) {
  const auto predict = find_workload("rendezvous")->predict;
  EXPECT_EQ(predict({{"delay", 5'000'000}}), 5e6);
  EXPECT_EQ(predict({{"delay", 5'000'000}, {"protocol", std::string{"read"}}}), 15e6);
  EXPECT_EQ(predict({{"delay", 5'000'000}, {"delay_back", 1'000'000}, {"protocol", std::string{"write"}}}), 9e6);
}

TEST(RendezvousMessage, OneThatIsCutShortIsRefused) {
  std::array<std::byte, kControlSize> bytes{};
  const auto size = encode(bytes, Control::reply, 1, {{4096, 4096, 7}});
  const auto whole = std::span<const std::byte>{bytes};
  EXPECT_EQ(decode(whole.first(size), Control::reply).segments.size(), 1U);
  EXPECT_THROW(decode(whole.first(size - 1), Control::reply), std::runtime_error);
  EXPECT_THROW(decode(whole.first(kHeaderSize - 1), Control::reply), std::runtime_error);
  EXPECT_THROW(decode({}, Control::data), std::runtime_error);
}

}  // namespace
}  // namespace longhaul::workloads::rendezvous
