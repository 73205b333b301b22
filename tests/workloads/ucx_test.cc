#include <gmock/gmock.h>
#include <poll.h>

#include <thread>

#include "tests/workloads/ends.hh"
#include "workloads/transport/socket.hh"
#include "workloads/transport/ucx/connection.hh"

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;
using ucx::UcxConnection;

const ucx::Choice kLoopback{.transport = "ucx_tcp", .provider = "kernel", .device = {}, .tls = "tcp", .devices = "lo"};

Patience patiently() {
  return Patience::of(std::chrono::seconds{20}, -1);
}

std::pair<OwnFd, OwnFd> connected() {
  const auto listener = listen_on(*resolve("127.0.0.1", 0));
  const auto address = local_address(listener->get());
  auto client = start_dial(address, std::nullopt);
  EXPECT_TRUE(finish_dial(client->get(), address, patiently()));
  OwnFd server;
  while (!server) server = accept_from(listener->get());
  return {std::move(*client), std::move(server)};
}

using One = std::unique_ptr<UcxConnection>;

// Each waits for the other's address: two threads, as of two processes.
std::pair<One, One> open_pair(const ConnectionPlan& plan) {
  auto [a, b] = connected();
  One far;
  std::thread other{[&, fd = std::move(b)]() mutable {
    auto opened = UcxConnection::open(std::move(fd), kLoopback, plan, patiently());
    if (opened) far = std::move(*opened);
  }};
  auto near = UcxConnection::open(std::move(a), kLoopback, plan, patiently());
  other.join();
  if (!near) throw std::runtime_error(near.error().message);
  if (!far) throw std::runtime_error("the other end was not opened");
  return {std::move(*near), std::move(far)};
}

ConnectionPlan plan_of(std::size_t size, std::uint32_t receives = 1) {
  ConnectionPlan plan;
  plan.message = plan.in_flight = size;
  plan.memory = (1 + receives) * size;
  plan.receives = receives;
  plan.receive_offset = size;
  plan.receive_length = size;
  plan.receive_stride = size;
  return plan;
}

// Both are driven by this thread: UCX moves nothing by itself.
std::optional<Completion> next(UcxConnection& from, UcxConnection& other) {
  std::array<Completion, 1> done;
  const auto until = patiently();
  while (observe::raw_time() < until.deadline) {
    if (from.poll(done) == 1) return done[0];
    std::array<Completion, 0> none;
    other.poll(none);
  }
  return std::nullopt;
}

TEST(Ucx, MessagesArriveWholeAndInOrder) {
  constexpr std::size_t kSize = 100'000;  // beyond what goes eagerly: UCX fetches it
  constexpr std::uint32_t kMessages = 4;
  auto [a, b] = open_pair(plan_of(kSize, kMessages));
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    // Small ones overtake large ones on the way; they are told in order all the same.
    const auto length = i % 2 == 0 ? kSize : std::size_t{10};
    std::fill_n(a->memory().begin(), length, std::byte(i + 1));
    a->post({.length = length});
    const auto sent = next(*a, *b);
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->kind, Completion::Kind::sent);
    const auto came = next(*b, *a);
    ASSERT_TRUE(came);
    EXPECT_EQ(came->kind, Completion::Kind::received);
    EXPECT_EQ(came->length, length);
    EXPECT_EQ(b->memory()[(1 + i) * kSize], std::byte(i + 1));
    EXPECT_EQ(b->memory()[(1 + i) * kSize + length - 1], std::byte(i + 1));
  }
}

TEST(Ucx, ASleeperIsWoken) {
  auto [a, b] = open_pair(plan_of(10));
  while (!b->arm()) {
    std::array<Completion, 0> none;
    a->poll(none);
  }
  a->post({.length = 10});
  std::array<Completion, 1> done;
  pollfd fd{b->event_fd(), POLLIN, 0};
  for (const auto until = patiently(); observe::raw_time() < until.deadline;) {
    a->poll(done);
    if (::poll(&fd, 1, 10) == 1) break;
  }
  EXPECT_NE(fd.revents & POLLIN, 0);
  const auto came = next(*b, *a);
  ASSERT_TRUE(came);
  EXPECT_EQ(came->length, 10U);
}

TEST(Ucx, APeerThatClosedIsAnError) {
  auto [a, b] = open_pair(plan_of(10));
  a->check_alive();
  b.reset();
  EXPECT_THROW(
      {
        for (const auto until = patiently(); observe::raw_time() < until.deadline;) a->check_alive();
      },
      std::system_error);
}

TEST(Ucx, NothingIsEmulated) {
  auto [a, b] = open_pair(plan_of(10));
  EXPECT_THROW(a->post({.operation = Operation::write_with_immediate, .length = 10}), std::logic_error);
  EXPECT_THROW(a->post({.length = 10, .local_key = 1}), std::logic_error);
  EXPECT_EQ(a->facts().transport, "ucx_tcp");
  EXPECT_EQ(a->facts().netdev, "lo");
}

ClientOptions over(const std::string& transport, std::uint16_t port, Parameters parameters) {
  return towards(port, quick(std::move(parameters)), transport);
}

TEST(Ucx, WorkloadsRunOverItUnchanged) {
  for (const std::string completion : {"poll", "event"}) {
    ServerThread server;
    Events events;
    const auto result =
        run_client(over("ucx_tcp", server.port(), {{"op", std::string{"send"}}, {"completion", completion}}),
                   *find_workload("latency"), *find_runner("latency"), events, -1);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GT(result->client.metrics.at("latency").value, 0);
    EXPECT_EQ(result->client.transport->transport, "ucx_tcp");
  }
  ServerThread server;
  Events events;
  const auto result = run_client(over("ucx_tcp", server.port(), {{"protocol", std::string{"eager"}}, {"size", 2000}}),
                                 *find_workload("rendezvous"), *find_runner("rendezvous"), events, -1);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->client.metrics.at("trips").value, 1);
}

TEST(Ucx, WhatItCannotDoIsUnsupportedWithTheReason) {
  ServerThread server;
  Events events;
  const auto write =
      run_client(over("ucx_tcp", server.port(), {}), *find_workload("latency"), *find_runner("latency"), events, -1);
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().status, Status::unsupported);
  EXPECT_THAT(write.error().message, HasSubstr("ucx_tcp has no remote write"));
  // There is no RDMA device on a loopback interface.
  const auto verbs =
      run_client(over("ucx", server.port(), {}), *find_workload("latency"), *find_runner("latency"), events, -1);
  ASSERT_FALSE(verbs);
  EXPECT_EQ(verbs.error().status, Status::unsupported);
  EXPECT_THAT(verbs.error().message, HasSubstr("lo has no RDMA device"));
}

}  // namespace
}  // namespace longhaul::workloads
