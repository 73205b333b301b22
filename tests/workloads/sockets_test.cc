#include "tests/workloads/soon.hh"
#include "workloads/transport/tcp/connection.hh"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/epoll.h>

#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;

std::pair<OwnFd, OwnFd> connected() {
  const auto listener = listen_on(*resolve("127.0.0.1", 0));
  const auto address = local_address(listener->get());
  auto client = start_dial(address, std::nullopt);
  EXPECT_TRUE(finish_dial(client->get(), address, soon()));
  OwnFd server;
  while (!server) server = accept_from(listener->get());
  return {std::move(*client), std::move(server)};
}

using Pair = std::pair<std::unique_ptr<SocketsConnection>, std::unique_ptr<SocketsConnection>>;

Pair open_pair(const ConnectionPlan& plan) {
  auto [a, b] = connected();
  return {std::move(*SocketsConnection::open(std::move(a), plan)),
          std::move(*SocketsConnection::open(std::move(b), plan))};
}

ConnectionPlan plan_of(std::size_t size) {
  ConnectionPlan plan;
  plan.message = plan.in_flight = size;
  plan.memory = 2 * size;
  plan.receives = 1;
  plan.receive_offset = size;
  plan.receive_length = size;
  return plan;
}

bool received(Connection& connection) {
  std::array<Completion, 1> done;
  return connection.poll(done) == 1 && done[0].kind == Completion::Kind::received;
}

TEST(Sockets, AMessageArrivesWhole) {
  const std::size_t size = 1000;
  auto [a, b] = open_pair(plan_of(size));
  for (std::size_t i = 0; i < size; ++i) a->memory()[i] = std::byte{static_cast<std::uint8_t>(i)};
  Request request;
  request.length = size;
  request.signaled = false;
  a->post(request);
  while (!received(*b)) {
  }
  EXPECT_TRUE(std::equal(a->memory().begin(), a->memory().begin() + size, b->memory().begin() + size));
  EXPECT_FALSE(received(*b));
}

TEST(Sockets, LargeMessagesCrossBothWaysAtATime) {
  const std::size_t size = std::size_t{16} << 20;  // more than the buffers of both ends
  auto [a, b] = open_pair(plan_of(size));
  for (std::size_t i = 0; i < size; ++i) {
    a->memory()[i] = std::byte{static_cast<std::uint8_t>(i >> 9)};
    b->memory()[i] = std::byte{static_cast<std::uint8_t>(i >> 7)};
  }
  Request request;
  request.length = size;
  request.signaled = false;
  a->post(request);
  EXPECT_NE(a->wait_events() & EPOLLOUT, 0U);  // it could not go at once
  b->post(request);
  bool at_a = false;
  bool at_b = false;
  while (!at_a || !at_b) {
    at_a = received(*a) || at_a;
    at_b = received(*b) || at_b;
  }
  EXPECT_TRUE(std::equal(a->memory().begin(), a->memory().begin() + static_cast<std::ptrdiff_t>(size),
                         b->memory().begin() + static_cast<std::ptrdiff_t>(size)));
  EXPECT_TRUE(std::equal(b->memory().begin(), b->memory().begin() + static_cast<std::ptrdiff_t>(size),
                         a->memory().begin() + static_cast<std::ptrdiff_t>(size)));
  EXPECT_EQ(a->wait_events() & EPOLLOUT, 0U);
}

TEST(Sockets, ASleeperIsWoken) {
  auto [a, b] = open_pair(plan_of(10));
  EXPECT_TRUE(b->arm());
  pollfd fd{b->event_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 0), 0);
  Request request;
  request.length = 10;
  a->post(request);
  EXPECT_EQ(::poll(&fd, 1, 2000), 1);
  EXPECT_TRUE(received(*b));
  EXPECT_FALSE(a->arm());  // its `sent` was asked for and is there already
}

TEST(Sockets, APeerThatClosedIsAnError) {
  auto [a, b] = open_pair(plan_of(10));
  a->check_alive();
  b.reset();
  pollfd fd{a->event_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 2000), 1);
  EXPECT_THROW(a->check_alive(), std::system_error);
  EXPECT_THROW(received(*a), std::system_error);
}

TEST(Sockets, NothingIsEmulated) {
  auto [a, b] = open_pair(plan_of(10));
  for (const auto operation : {Operation::write, Operation::write_with_immediate, Operation::read}) {
    Request request;
    request.operation = operation;
    EXPECT_THROW(a->post(request), std::logic_error);
  }
  EXPECT_THAT(a->capabilities(), testing::Not(testing::Contains(Capability::write)));
  EXPECT_THAT(a->capabilities(), testing::Not(testing::Contains(Capability::send_receive)));
}

TEST(Sockets, FactsNameWhatWasUsed) {
  auto [a, b] = open_pair(plan_of(10));
  const auto facts = a->facts();
  EXPECT_EQ(facts.transport, "tcp");
  EXPECT_EQ(facts.provider, "kernel");
  EXPECT_EQ(facts.netdev, "lo");
  EXPECT_EQ(facts.local_address, "127.0.0.1");
  EXPECT_FALSE(facts.congestion_control.empty());
  EXPECT_GT(facts.mtu, 0);
  EXPECT_GT(facts.queue_depth, 0);
  EXPECT_GT(facts.timeout_ns, 0);
  EXPECT_GT(facts.counters.at("tcp_cwnd"), 0);
  EXPECT_GT(a->counters().at("tcp_segments_out"), 0);
}

TEST(Sockets, AnUnknownCongestionControlIsUnsupported) {
  auto [a, b] = connected();
  auto plan = plan_of(10);
  plan.congestion_control = "carrier_pigeon";
  const auto refused = SocketsConnection::open(std::move(a), plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("carrier_pigeon"));
}

TEST(Tcp, APortInUseIsRefusedWithARemedy) {
  const auto first = listen_on(*resolve("127.0.0.1", 0));
  ASSERT_TRUE(first);
  const auto second = listen_on(local_address(first->get()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
  EXPECT_THAT(second.error().message, HasSubstr("--port"));
}

TEST(Tcp, AForeignAddressIsRefused) {
  EXPECT_THAT(listen_on(*resolve("203.0.113.7", 0)).error().message, HasSubstr("not an address of this machine"));
  EXPECT_THAT(start_dial(*resolve("127.0.0.1", 9), *resolve("203.0.113.7", 0)).error().message, HasSubstr("--bind"));
  EXPECT_THAT(start_dial(*resolve("127.0.0.1", 9), *resolve("::1", 0)).error().message, HasSubstr("family"));
}

TEST(Tcp, NobodyListens) {
  SocketAddress address;
  {
    const auto listener = listen_on(*resolve("127.0.0.1", 0));
    address = local_address(listener->get());
  }
  const auto fd = start_dial(address, std::nullopt);
  const auto done = fd ? finish_dial(fd->get(), address, soon()) : Result<void>{tl::unexpected(fd.error())};
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::AnyOf(HasSubstr("nobody listens"), HasSubstr("refused")));
}

TEST(Tcp, ABlockedPeerIsATimeOut) {
  auto [a, b] = connected();
  char byte = 0;
  EXPECT_THROW(read_fully(a.get(), &byte, 1, Patience::of(std::chrono::milliseconds{10}, -1), "read"),
               std::system_error);
  const std::string much(64 << 20, 'x');
  EXPECT_THROW(write_fully(a.get(), much, Patience::of(std::chrono::milliseconds{10}, -1), "write"), std::system_error);
}

}  // namespace
}  // namespace longhaul::workloads
